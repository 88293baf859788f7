#pragma once

#include <string>
#include <vector>

#include "cli/launch/interrupts.hpp"

namespace tutti::cli {

/// Runs this very program again with other words, and returns what it exits with, as a shell gives
/// it. A signal that would end this process ends that one first, which may clean up, and is then
/// thrown as Interrupted.
[[nodiscard]] int run_again(const std::vector<std::string>& words, const Interrupts& interrupts);

/// A file for what one process leaves to another; it goes with this object.
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
