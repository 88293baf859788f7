#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/launch/guard.hpp"
#include "cli/launch/rank_process.hpp"

namespace tutti::cli {

/// The processes of all ranks, and what those have started in turn: each rank is the head of a
/// process group. None of them outlives this process.
///
/// Reaps every child of this process, so it must be the only one to wait for any.
class Crew {
 public:
  /// The next rank.
  void join(pid_t pid);

  [[nodiscard]] std::uint32_t alive() const { return alive_; }
  [[nodiscard]] bool alive(std::uint32_t rank) const { return processes_[rank].alive; }
  /// Whether anything is left of any group: a rank, or what it has started and left behind.
  [[nodiscard]] bool anyone_left();
  /// Requires: the rank is not alive.
  [[nodiscard]] const Ending& ending(std::uint32_t rank) const { return processes_[rank].ending; }
  /// "rank 2 (pid 123)"
  [[nodiscard]] std::string name(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(processes_.size()); }

  /// The ranks that have ended since.
  [[nodiscard]] std::vector<std::uint32_t> reap();
  /// Sends a signal to all that is left.
  void signal(int signal);

 private:
  struct Process {
    pid_t pid = -1;     // Also names its group.
    bool alive = true;  // The rank itself.
    bool left = true;   // Anything of its group.
    Ending ending{};
  };

  void forget_empty_groups();

  Guard guard_;
  std::vector<Process> processes_;
  std::uint32_t alive_ = 0;
};

}  // namespace tutti::cli
