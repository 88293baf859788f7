#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch/crew.hpp"
#include "cli/launch/file_descriptor.hpp"
#include "cli/launch/process_family.hpp"
#include "cli/launch/signals.hpp"
#include "versus/command.hpp"

namespace tutti::cli {

/// Programs that answer each line of input with a line of JSON and sleep in between. However this
/// process ends, they and their descendants end too.
///
/// It handles the signals of the whole process. Requires: it is the only one, and this process has
/// no threads yet.
class Followers {
 public:
  using Seconds = std::chrono::duration<double>;
  using Id = std::uint32_t;

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
    FileDescriptor in{};
    FileDescriptor out{};
    FileDescriptor errors{};  // Its standard error.
    std::string pending{};    // Its output after the last complete line.
    std::vector<FamilyMember> family{};
  };

  void send(Id id, const std::string& line);
  /// False if the deadline has passed.
  [[nodiscard]] bool read_some(Id id, Clock::time_point deadline);
  [[nodiscard]] bool ends_within(Id id, Seconds patience);
  [[nodiscard]] std::string last_output(Id id);

  Signals signals_;
  std::optional<Crew> crew_;
  std::vector<Follower> followers_;  // As in the crew.
  // The time for a program to end by itself; shorter after an interrupt.
  Seconds grace_{2};
};

}  // namespace tutti::cli
