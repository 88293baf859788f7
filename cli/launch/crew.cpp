#include "cli/launch/crew.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace tutti::cli {

Crew::Crew(const Signals& signals, Guard::Manner manner)
    : inheritance_(signals.inheritance()), manner_(manner), guard_(manner) {
  // Orphans of a rank become our children and can be reaped, even where init reaps nothing.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int Crew::start(RankStart start) {
  // A rank that is killed could not clean up. The guard is more patient.
  if (manner_ == Guard::Manner::orderly && guard_.is_there()) start.death_signal = 0;
  const Started started = start_rank(std::move(start), inheritance_);
  if (started.error != 0) return started.error;
  guard_.add(started.pid);
  processes_.push_back({.pid = started.pid});
  ++alive_;
  return 0;
}

std::string Crew::name(std::uint32_t rank) const {
  return "rank " + std::to_string(rank) + " (pid " + std::to_string(processes_[rank].pid) + ")";
}

std::vector<std::uint32_t> Crew::reap() {
  std::vector<std::uint32_t> ended;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto at = std::find_if(processes_.begin(), processes_.end(),
                                 [&](const Process& each) { return each.pid == pid; });
    // Otherwise it is a process that a rank has started.
    if (at == processes_.end() || !at->alive) continue;
    at->alive = false;
    at->ending.status = status;
    --alive_;
    ended.push_back(static_cast<std::uint32_t>(at - processes_.begin()));
  }
  forget_empty_groups();
  return ended;
}

/// The kernel may reuse the id of an empty group for an unrelated process, which must not get our
/// signals.
void Crew::forget_empty_groups() {
  for (Process& each : processes_) {
    if (each.alive || !each.left) continue;
    each.left = ::kill(-each.pid, 0) == 0 || errno != ESRCH;
    if (!each.left) guard_.remove(each.pid);
  }
}

bool Crew::anyone_left() {
  if (alive_ > 0) return true;
  forget_empty_groups();
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const Process& each) { return each.left; });
}

void Crew::signal(std::uint32_t rank, int signal) const {
  if (processes_[rank].left) ::kill(-processes_[rank].pid, signal);
}

void Crew::signal(int signal) const {
  for (std::uint32_t rank = 0; rank < size(); ++rank) this->signal(rank, signal);
}

}  // namespace tutti::cli
