#include "cli/launch/guard.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <set>

namespace tutti::cli {
namespace {

/// Closes all inherited files but `line`, since a reader of our output would otherwise wait for the
/// helper too. Returns the new number of `line`.
int let_go_of_all_but(int line) {
  const int null = ::open("/dev/null", O_RDWR);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, each);
  constexpr int kept = STDERR_FILENO + 1;
  if (line != kept) ::dup2(line, kept);
  ::close_range(kept + 1, ~0U, 0);
  return kept;
}

bool is_left(pid_t group) { return ::kill(-group, 0) == 0; }

/// True if all groups end without a signal in time.
bool have_ended(const std::set<pid_t>& groups) {
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
  constexpr int looks = 150;
  for (int i = 0; i < looks; ++i) {
    if (std::none_of(groups.begin(), groups.end(), is_left)) return true;
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

void end_all(const std::set<pid_t>& groups, Guard::Manner manner) {
  const auto signal_all = [&](int signal) {
    for (const pid_t each : groups) ::kill(-each, signal);
  };
  if (manner == Guard::Manner::orderly) {
    // Only they can remove what they have created, such as named shared memory.
    if (have_ended(groups)) return;
    signal_all(SIGTERM);
    signal_all(SIGCONT);
    if (have_ended(groups)) return;
  }
  signal_all(SIGKILL);
}

[[noreturn]] void stand_guard(int line, Guard::Manner manner) {
  ::setpgid(0, 0);  // Signals of the terminal must not reach it.
  ::prctl(PR_SET_NAME, "tutti-guard");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  line = let_go_of_all_but(line);
  std::set<pid_t> groups;
  pid_t told = 0;
  for (ssize_t got = 0; (got = ::read(line, &told, sizeof told)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof told) break;
    if (told > 0) {
      groups.insert(told);
    } else {
      groups.erase(-told);
    }
  }
  end_all(groups, manner);
  ::_exit(0);
}

}  // namespace

Guard::Guard(Manner manner) {
  Pipe pipe;
  if (!pipe) return;
  line_ = std::move(pipe.write);
  pid_ = ::fork();
  if (pid_ == 0) {
    line_.close();
    stand_guard(pipe.read.number(), manner);
  }
}

Guard::~Guard() {
  line_.close();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

void Guard::tell(pid_t group) {
  if (pid_ < 0) return;
  // A message this short is written atomically.
  [[maybe_unused]] const ssize_t written = ::write(line_.number(), &group, sizeof group);
}

}  // namespace tutti::cli
