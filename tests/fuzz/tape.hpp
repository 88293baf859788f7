#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tutti::test {

/// An input as a series of decisions. When it has come to its end, it says zero for ever.
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
  /// As many bytes as there are, up to `most`.
  [[nodiscard]] std::string_view take(std::size_t most) {
    const std::string_view taken = left_.substr(0, std::min(most, left_.size()));
    left_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view left_;
};

}  // namespace tutti::test
