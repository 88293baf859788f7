#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti {

/// A number as text, made without taking memory.
class Digits {
 public:
  /// With a base up to 16, and zeros before it until it has `least` digits.
  explicit Digits(std::uint64_t value, std::uint64_t base = 10, std::size_t least = 1) {
    while (value > 0 || letters_.size() - begin_ < least) {
      letters_[--begin_] = "0123456789abcdef"[value % base];
      value /= base;
    }
  }

  [[nodiscard]] std::string_view text() const {
    return {letters_.data() + begin_, letters_.size() - begin_};
  }

 private:
  std::array<char, 64> letters_{};
  std::size_t begin_ = letters_.size();
};

}  // namespace tutti
