#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti {

/// A number as text, without allocation.
class Digits {
 public:
  /// `base` is at most 16. Padded with zeros to `least` digits.
  explicit Digits(std::uint64_t value, std::uint64_t base = 10, std::size_t least = 1) {
    while (value > 0 || digits_.size() - begin_ < least) {
      digits_[--begin_] = "0123456789abcdef"[value % base];
      value /= base;
    }
  }

  [[nodiscard]] std::string_view text() const {
    return {digits_.data() + begin_, digits_.size() - begin_};
  }

 private:
  std::array<char, 64> digits_{};
  std::size_t begin_ = digits_.size();
};

}  // namespace tutti
