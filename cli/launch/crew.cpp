#include "cli/launch/crew.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace tutti::cli {

void Crew::join(pid_t pid) {
  guard_.add(pid);
  processes_.push_back({.pid = pid});
  ++alive_;
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

void Crew::signal(int signal) {
  for (const Process& each : processes_) {
    if (each.left) ::kill(-each.pid, signal);
  }
}

}  // namespace tutti::cli
