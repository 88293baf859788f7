#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/launch/file_descriptor.hpp"
#include "cli/launch/guard.hpp"
#include "cli/launch/interrupts.hpp"
#include "cli/launch/process_family.hpp"
#include "cli/launch/rank_process.hpp"
#include "cli/versus/contender.hpp"

namespace tutti::cli {

/// Programs that answer each line of input with a line of JSON and sleep in between. However this
/// process ends, they and their descendants end too.
///
/// It handles the signals of the whole process. Requires: it is the only one, and this process has
/// no threads yet.
class Followers {
 public:
  using Seconds = std::chrono::duration<double>;
  using Id = std::size_t;

  Followers();
  /// Ends all programs that are left.
  ~Followers();
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  /// Throws unsupported if the program cannot be started.
  [[nodiscard]] Id start(const VersusCommand& command);

  /// Sends a line and returns the answer. Throws peer_lost with the last lines of standard error if
  /// the program has ended, timed_out if it does not answer in time, and Interrupted. After a
  /// timeout the program cannot be used any more.
  [[nodiscard]] std::string ask(Id id, const std::string& line, Seconds patience);

  /// The processes that it has started so far end even if this process is killed.
  void guard_family(Id id);

  /// Ends a program: closes its input, then SIGTERM, then SIGKILL.
  void end(Id id);

 private:
  using Clock = std::chrono::steady_clock;

  struct Follower {
    pid_t pid = -1;  // Also the id of its group; -1 once it was reaped.
    int status = 0;
    FileDescriptor in{};
    FileDescriptor out{};
    FileDescriptor errors{};  // Its standard error.
    std::string pending{};    // Its output after the last complete line.
    std::vector<FamilyMember> family{};
  };

  void send(Follower& follower, const std::string& line);
  /// False if the deadline has passed.
  [[nodiscard]] bool read_some(Follower& follower, Clock::time_point deadline);
  [[nodiscard]] bool ended(Follower& follower);
  [[nodiscard]] bool ends_within(Follower& follower, Seconds patience);
  [[nodiscard]] std::string last_output(Follower& follower);

  FileDescriptor signals_;
  Inheritance inheritance_;
  std::unique_ptr<Guard> guard_;  // Made after signals are blocked.
  std::vector<Follower> followers_;
  // The time for a program to end by itself; shorter after an interrupt.
  Seconds grace_{2};
};

}  // namespace tutti::cli
