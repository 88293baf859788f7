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

/// Carries what many processes write into their pipes to one place, line by line, so that no line
/// is torn between two of them.
///
/// A thread of its own does it, with writes that block: whoever reads slowly slows the processes
/// down and nobody else. Memory is bounded. A line of up to 64 KiB is held until it is whole; a
/// longer one is passed on as it comes while all others wait for its end. If that does not come
/// because the process pauses in the middle, the line is broken in two rather than let all wait.
class LineForwarder {
 public:
  struct Source {
    FileDescriptor from{};    ///< The reading end of a pipe.
    int to = -1;              ///< Where the lines go. The same file for all sources.
    std::string prefix{};     ///< Put before every line.
    FileDescriptor copy{};    ///< Gets every byte as it came, if there is such a file.
    std::string copy_name{};  ///< For messages about it.
  };

  LineForwarder();
  /// Waits until all is written.
  ~LineForwarder();
  LineForwarder(const LineForwarder&) = delete;
  LineForwarder& operator=(const LineForwarder&) = delete;

  /// Requires: not started.
  void add(Source source);
  void start();
  /// Nobody will write any more: forwards what is in the pipes and ends, even if a stranger still
  /// holds one open.
  void finish();

  /// Readable when done() or error() may have changed; call heard() then.
  [[nodiscard]] int news() const { return news_.number(); }
  void heard() const;
  [[nodiscard]] bool done() const { return done_; }
  /// Why nothing more can be written, as in errno; 0 if all is well. All that comes is then read
  /// and dropped.
  [[nodiscard]] int error() const { return error_; }
  /// Whether a copy is not whole.
  [[nodiscard]] bool has_lost_copy() const { return has_lost_copy_; }

 private:
  struct Stream : Source {
    std::string held{};     // The beginning of a line.
    bool mid_line = false;  // Some of the present line is written.
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
  Stream* floor_ = nullptr;  // In the middle of a line too long to hold: the others wait.
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
