#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/launch/guard.hpp"
#include "cli/launch/rank_process.hpp"
#include "cli/launch/signals.hpp"

namespace tutti::cli {

/// Processes that this one has started, called ranks, and their descendants. Each rank leads a
/// process group. None of them outlives this process.
///
/// Reaps every child of this process, so no other code may wait for children.
class Crew {
 public:
  /// Requires what Guard requires, and that the signals outlive this.
  explicit Crew(const Signals& signals, Guard::Manner manner = Guard::Manner::at_once);

  /// Starts the next rank. Returns errno; 0 if its program runs.
  [[nodiscard]] int start(RankStart start);

  [[nodiscard]] std::uint32_t alive() const { return alive_; }
  [[nodiscard]] bool alive(std::uint32_t rank) const { return processes_[rank].alive; }
  /// True if any process of any group is left: a rank, or a process that a rank has started.
  [[nodiscard]] bool anyone_left();
  /// Requires: the rank is not alive.
  [[nodiscard]] const Ending& ending(std::uint32_t rank) const { return processes_[rank].ending; }
  /// "rank 2 (pid 123)"
  [[nodiscard]] std::string name(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(processes_.size()); }

  /// The ranks that have ended since the last call.
  [[nodiscard]] std::vector<std::uint32_t> reap();
  /// Sends a signal to all processes that are left, of one rank or of all.
  void signal(std::uint32_t rank, int signal) const;
  void signal(int signal) const;

  [[nodiscard]] pid_t pid(std::uint32_t rank) const { return processes_[rank].pid; }
  [[nodiscard]] Guard& guard() { return guard_; }

 private:
  struct Process {
    pid_t pid = -1;     // Also the id of its group.
    bool alive = true;  // The rank itself.
    bool left = true;   // Any process of its group.
    Ending ending{};
  };

  void forget_empty_groups();

  const Inheritance& inheritance_;
  const Guard::Manner manner_;
  Guard guard_;
  std::vector<Process> processes_;
  std::uint32_t alive_ = 0;
};

}  // namespace tutti::cli
