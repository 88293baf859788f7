#pragma once

#include <string>

namespace tutti::render {

/// Colours for terminals: ANSI escape codes around text, or the plain text if they are off.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}

  [[nodiscard]] std::string bold(const std::string& text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return paint("2", text); }
  [[nodiscard]] std::string green(const std::string& text) const { return paint("32", text); }
  [[nodiscard]] std::string red(const std::string& text) const { return paint("31", text); }

 private:
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const {
    return on_ ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
  }

  bool on_;
};

}  // namespace tutti::render
