#pragma once

#include <string>
#include <vector>

#include "cli/launch/file_descriptor.hpp"
#include "cli/launch/signals.hpp"

namespace tutti::cli {

/// Runs this program again with other arguments. Returns its exit code as a shell does. A signal
/// that would end this process is sent to the other process first, which may clean up, and is then
/// thrown as Interrupted.
[[nodiscard]] int run_again(const std::vector<std::string>& words, const Interrupts& interrupts);

/// A file by which one process passes data to another. It has no name in any folder, so nothing
/// is left of it if this process is killed.
class TemporaryFile {
 public:
  /// Throws unsupported.
  TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Valid in every process of this user, as long as this object exists.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const;

 private:
  FileDescriptor file_;
  std::string path_;
};

}  // namespace tutti::cli
