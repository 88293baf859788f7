#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/launch/file_descriptor.hpp"
#include "cli/launch/job.hpp"
#include "cli/launch/line_forwarder.hpp"

namespace tutti::cli {

/// Forwards the output of the ranks to that of this process, and to files if asked.
class RankOutput {
 public:
  /// Throws invalid_argument if the directory for the files cannot be created.
  explicit RankOutput(const Job& job);

  /// The files that a rank writes to.
  struct Ends {
    FileDescriptor out{};
    FileDescriptor err{};
  };
  /// Throws invalid_argument if no more files can be opened. Requires: not started.
  [[nodiscard]] Ends add(std::uint32_t rank);
  void start();

  /// Writes a line of the launcher to standard error, never within another line. It may be lost if
  /// the output is not read.
  void say(const std::string& line);

  /// Forwards what is in the pipes and ends. Requires: no rank is left.
  void finish();
  [[nodiscard]] bool done() const;

  /// Becomes readable when done() or error() may have changed; then call heard().
  [[nodiscard]] std::array<int, 2> news() const;
  void heard() const;
  /// The errno of a failed write; 0 if there is none.
  [[nodiscard]] int error() const;
  /// True if a file of a rank's output is incomplete.
  [[nodiscard]] bool has_lost_copy() const;

 private:
  [[nodiscard]] LineForwarder& forwarder(int to);
  [[nodiscard]] FileDescriptor add(LineForwarder::Source source);
  [[nodiscard]] LineForwarder::Source source(std::uint32_t rank, int to) const;

  const Job& job_;
  LineForwarder out_;
  std::unique_ptr<LineForwarder> err_;  // Null if both are the same file.
  FileDescriptor voice_;
};

}  // namespace tutti::cli
