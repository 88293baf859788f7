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

/// Programs that read lines and answer each with a line of JSON, and sleep in between. However this
/// ends, they and all that they have started end with it.
///
/// It takes the signals of the whole process, so there is one for a process, before there are
/// threads.
class Followers {
 public:
  using Seconds = std::chrono::duration<double>;
  using Id = std::size_t;

  Followers();
  /// Ends all that are left.
  ~Followers();
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  /// Throws unsupported if the program cannot be started.
  [[nodiscard]] Id start(const VersusCommand& command);

  /// The answer to a line. Throws peer_lost if the program has ended, with its last words, and
  /// timed_out if it does not answer in time; it is of no use then. Throws Interrupted.
  [[nodiscard]] std::string ask(Id id, const std::string& line, Seconds patience);

  /// All that it has started so far ends with it even if this process is killed.
  void guard_family(Id id);

  /// Ends one: by the end of its input, by request, by force.
  void end(Id id);

 private:
  using Clock = std::chrono::steady_clock;

  struct Follower {
    pid_t pid = -1;  // Also names its group; -1 once it has been waited for.
    int status = 0;
    FileDescriptor in{};
    FileDescriptor out{};
    FileDescriptor complaints{};
    std::string pending{};  // What it has written after its last whole line.
    std::vector<FamilyMember> family{};
  };

  void send(Follower& follower, const std::string& line);
  /// Whether more could be read before the deadline.
  [[nodiscard]] bool read_some(Follower& follower, Clock::time_point deadline);
  [[nodiscard]] bool ended(Follower& follower);
  [[nodiscard]] bool ends_within(Follower& follower, Seconds patience);
  [[nodiscard]] std::string last_words(Follower& follower);

  FileDescriptor signals_;
  Inheritance inheritance_;
  std::unique_ptr<Guard> guard_;  // Not before signals are blocked.
  std::vector<Follower> followers_;
  // How long a program has to end by itself; less if somebody waits for it.
  Seconds grace_{2};
};

}  // namespace tutti::cli
