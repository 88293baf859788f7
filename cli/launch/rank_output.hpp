#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/launch/file_descriptor.hpp"
#include "cli/launch/job.hpp"
#include "cli/launch/line_forwarder.hpp"

namespace tutti::cli {

/// What the ranks write, on its way to where this process writes, and to files if asked for.
class RankOutput {
 public:
  /// Throws invalid_argument if the directory for the files cannot be made.
  explicit RankOutput(const Job& job);

  /// Where a rank writes to.
  struct Ends {
    FileDescriptor out{};
    FileDescriptor err{};
  };
  /// Throws invalid_argument if there are no more open files to be had. Requires: not started.
  [[nodiscard]] Ends add(std::uint32_t rank);
  void start();

  /// Adds a line of the launcher's own on standard error, never in the middle of another. It may be
  /// lost if nobody reads.
  void say(const std::string& line);

  /// No rank is left: passes on what is on its way and ends.
  void finish();
  [[nodiscard]] bool done() const;

  /// Readable when done() or error() may have changed; call heard() then.
  [[nodiscard]] std::array<int, 2> news() const;
  void heard() const;
  /// Why something could not be written, as in errno; 0 if all is well.
  [[nodiscard]] int error() const;
  /// Whether a file of a rank's output is not whole.
  [[nodiscard]] bool has_lost_copy() const;

 private:
  [[nodiscard]] LineForwarder& forwarder(int to);
  [[nodiscard]] FileDescriptor add(LineForwarder::Source source);
  [[nodiscard]] LineForwarder::Source source(std::uint32_t rank, int to) const;

  const Job& job_;
  LineForwarder out_;
  std::unique_ptr<LineForwarder> err_;  // Null if both go to the same file.
  FileDescriptor voice_;
};

}  // namespace tutti::cli
