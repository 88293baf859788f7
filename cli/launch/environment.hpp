#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::cli {

/// Texts as execve() takes them. Invalidated by any change of them.
[[nodiscard]] std::vector<char*> exec_pointers(std::vector<std::string>& texts);

/// The environment variables of a process to start.
class Environment {
 public:
  /// Those of this process.
  [[nodiscard]] static Environment own();

  /// Empty if the variable is not set.
  [[nodiscard]] std::string value(std::string_view name) const;
  void set(const std::string& name, const std::string& value);
  void remove(std::string_view name);

  [[nodiscard]] std::vector<char*> pointers() { return exec_pointers(entries_); }

 private:
  std::vector<std::string> entries_;  // "NAME=VALUE"
};

}  // namespace tutti::cli
