#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace tutti::test {

/// A run of `tutti` in the background. Standard output and standard error come through one pipe or
/// terminal.
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
  /// The output so far.
  [[nodiscard]] const std::string& output() const { return output_; }

  /// Reads until the output holds `text` this many times; false if it does not within ten seconds.
  [[nodiscard]] bool await(const std::string& text, int times = 1);
  /// Types on the terminal.
  void type(const std::string& text) const;
  void signal(int signal) const;
  /// Closes the output.
  void close_output();
  /// Waits for its end and returns the exit code; -1 if a signal ended it, -2 after ten seconds.
  /// Reads its output meanwhile if `reading`.
  [[nodiscard]] int wait(bool reading = true);

 private:
  /// Reads the available output, or waits briefly for some.
  void read_some();

  pid_t pid_ = -1;
  int fd_ = -1;
  std::string output_;
};

/// Whether a process exists and is not a zombie.
[[nodiscard]] bool is_alive(pid_t pid);
/// Waits until it has ended, for ten seconds at most.
[[nodiscard]] bool dies(pid_t pid);

}  // namespace tutti::test
