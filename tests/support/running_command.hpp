#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace tutti::test {

/// A run of `tutti` that goes on while the test looks at it. Standard output and standard error
/// come through one pipe or terminal.
class RunningCommand {
 public:
  enum class Through { pipe, terminal };

  explicit RunningCommand(const std::vector<std::string>& arguments,
                          Through through = Through::pipe);
  /// Kills it if it still runs.
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// All that it has written so far.
  [[nodiscard]] const std::string& output() const { return output_; }

  /// Reads until the output holds `text` so many times; false if it does not within ten seconds.
  [[nodiscard]] bool await(const std::string& text, int times = 1);
  /// Types on the terminal.
  void type(const std::string& text) const;
  void signal(int signal) const;
  /// Reads no more.
  void close_output();
  /// The exit code once it has ended, -1 if a signal ended it, -2 if it does not within ten
  /// seconds. Reads what it writes meanwhile if `reading`.
  [[nodiscard]] int wait(bool reading = true);

 private:
  /// Reads what there is, or waits a little for it.
  void read_some();

  pid_t pid_ = -1;
  int fd_ = -1;
  std::string output_;
};

/// Whether a process is there and more than a zombie.
[[nodiscard]] bool is_alive(pid_t pid);
/// Waits until it is not, for ten seconds at most.
[[nodiscard]] bool dies(pid_t pid);

}  // namespace tutti::test
