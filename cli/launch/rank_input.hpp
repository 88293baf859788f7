#pragma once

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {

/// The standard input of rank 0: that of this process.
///
/// A terminal is read here and forwarded. The rank could not read it: it is in a background process
/// group, which the terminal stops.
class RankInput {
 public:
  /// Requires: standard input is open.
  void prepare();
  /// The file that becomes the rank's standard input.
  [[nodiscard]] int end() const;
  /// Starts a thread that reads the terminal until the process ends. Requires: the rank has end().
  void start();

 private:
  FileDescriptor reading_;  // Open only for a terminal.
  FileDescriptor writing_;
};

}  // namespace tutti::cli
