#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tutti {

/// A path, built without allocation.
class PathText {
 public:
  void add(std::string_view text) {
    for (const char letter : text) {
      // The last byte stays zero.
      if (used_ + 1 >= letters_.size()) {
        fits_ = false;
        return;
      }
      letters_[used_++] = letter;
    }
  }

  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] const char* c_str() const { return letters_.data(); }

 private:
  std::array<char, 1024> letters_{};
  std::size_t used_ = 0;
  bool fits_ = true;
};

}  // namespace tutti
