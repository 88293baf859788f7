#pragma once

#include <string>
#include <vector>

#include "cli/launch/interrupts.hpp"

namespace tutti::cli {

/// Runs this program again with other arguments. Returns its exit code as a shell does. A signal
/// that would end this process is sent to the other process first, which may clean up, and is then
/// thrown as Interrupted.
[[nodiscard]] int run_again(const std::vector<std::string>& words, const Interrupts& interrupts);

/// A file by which one process passes data to another. Removed with this object.
class TemporaryFile {
 public:
  /// Throws invalid_argument.
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const;

 private:
  std::string path_;
};

}  // namespace tutti::cli
