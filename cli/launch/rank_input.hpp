#pragma once

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {

/// What rank 0 reads: the standard input of this process.
///
/// A terminal is read here and passed on. It would stop the rank, which is not in the process group
/// that the terminal listens to.
class RankInput {
 public:
  /// Requires: standard input is open.
  void prepare();
  /// What becomes the rank's standard input.
  [[nodiscard]] int end() const;
  /// Once the rank has it. A thread then reads the terminal until the process ends.
  void start();

 private:
  FileDescriptor reading_;  // None unless there is a terminal.
  FileDescriptor writing_;
};

}  // namespace tutti::cli
