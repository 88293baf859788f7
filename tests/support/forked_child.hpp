#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace tutti::test {

/// A child that the calling process forks, without an exec.
class ForkedChild {
 public:
  /// How the child ends when its work is done.
  enum class Ending {
    at_once,  ///< By _exit(): no destructor runs.
    exit,     ///< By exit(): destructors of static objects run.
  };

  /// Runs `work` in the child. It returns an error, or an empty text.
  explicit ForkedChild(const std::function<std::string()>& work, Ending ending = Ending::at_once);
  /// Kills the child if it still runs.
  ~ForkedChild();
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill() const;
  /// Waits for its end, ten seconds at most. Returns what its work returned or threw, and how it
  /// ended unless the status is 0.
  [[nodiscard]] std::string wait();

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

/// In a child: the kernel kills it when the thread that has forked it ends, also if the child is
/// stopped. A stopped child would otherwise outlive the test and keep its output open.
void end_with_parent(pid_t parent);

}  // namespace tutti::test
