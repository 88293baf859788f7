#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tutti::test {

/// An input read as a series of decisions. After its end it returns zeros.
class Tape {
 public:
  explicit Tape(std::string_view input) : left_(input) {}

  [[nodiscard]] bool at_end() const { return left_.empty(); }

  [[nodiscard]] std::uint32_t byte() {
    if (left_.empty()) return 0;
    const auto value = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return value;
  }
  [[nodiscard]] std::uint32_t word() {
    const std::uint32_t low = byte();
    return low | byte() << 8;
  }
  /// The next bytes, at most `most`.
  [[nodiscard]] std::string_view take(std::size_t most) {
    const std::string_view taken = left_.substr(0, std::min(most, left_.size()));
    left_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view left_;
};

}  // namespace tutti::test
