#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {

/// Forwards the output of many processes to one file, line by line, so that lines of different
/// processes do not mix.
///
/// A thread does this with blocking writes, so a slow reader slows down only the processes. Memory
/// is bounded. A line of up to 64 KiB is buffered until it is complete. A longer one is forwarded
/// in parts while all other sources wait for its end. If the process pauses within it, the line is
/// split instead.
class LineForwarder {
 public:
  struct Source {
    FileDescriptor from{};    ///< The reading end of a pipe.
    int to = -1;              ///< Where the lines go. The same file for all sources.
    std::string prefix{};     ///< Put before every line.
    FileDescriptor copy{};    ///< Gets every byte unchanged; may be empty.
    std::string copy_name{};  ///< For error messages.
  };

  LineForwarder();
  /// Waits until everything is written.
  ~LineForwarder();
  LineForwarder(const LineForwarder&) = delete;
  LineForwarder& operator=(const LineForwarder&) = delete;

  /// Requires: not started.
  void add(Source source);
  void start();
  /// Forwards what is in the pipes and ends, even if some process still holds a pipe open.
  void finish();

  /// Becomes readable when done() or error() may have changed; then call heard().
  [[nodiscard]] int news() const { return news_.number(); }
  void heard() const;
  [[nodiscard]] bool done() const { return done_; }
  /// The errno of a failed write; 0 if there is none. After a failure all input is read and
  /// discarded.
  [[nodiscard]] int error() const { return error_; }
  /// True if a copy is incomplete.
  [[nodiscard]] bool has_lost_copy() const { return has_lost_copy_; }

 private:
  struct Stream : Source {
    std::string held{};     // The beginning of a line.
    bool mid_line = false;  // Part of the present line is written.
  };

  void forward();
  void wait_and_serve();
  void serve_floor();
  void serve(Stream& stream);
  void drain();
  void drain(Stream& stream);
  void end(Stream& stream);
  void take(Stream& stream, std::string_view bytes);
  void begin_line(Stream& stream);
  void copy(Stream& stream, std::string_view bytes);
  void flush(const Stream& stream);
  void tell();

  std::deque<Stream> streams_;
  std::size_t open_ = 0;
  Stream* floor_ = nullptr;  // Within a line too long to buffer: the others wait.
  std::vector<char> chunk_;
  std::string out_;
  FileDescriptor epoll_;
  FileDescriptor wake_;
  FileDescriptor news_;
  bool finishing_ = false;
  std::atomic<bool> done_{false};
  std::atomic<int> error_{0};
  std::atomic<bool> has_lost_copy_{false};
  std::thread thread_;
};

}  // namespace tutti::cli
