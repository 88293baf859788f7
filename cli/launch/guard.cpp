#include "cli/launch/guard.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>

namespace tutti::cli {
namespace {

/// Keeps nothing of what it inherits but `line`, or else whoever reads our output would wait for it
/// as well, and returns where that is now.
int let_go_of_all_but(int line) {
  const int null = ::open("/dev/null", O_RDWR);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, each);
  constexpr int kept = STDERR_FILENO + 1;
  if (line != kept) ::dup2(line, kept);
  ::close_range(kept + 1, ~0U, 0);
  return kept;
}

[[noreturn]] void stand_guard(int line) {
  ::setpgid(0, 0);  // Away from the terminal.
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
  for (const pid_t each : groups) ::kill(-each, SIGKILL);
  ::_exit(0);
}

}  // namespace

Guard::Guard() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  const FileDescriptor heard(ends[0]);
  line_ = FileDescriptor(ends[1]);
  pid_ = ::fork();
  if (pid_ == 0) {
    line_.close();
    stand_guard(heard.number());
  }
}

Guard::~Guard() {
  line_.close();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

void Guard::tell(pid_t group) {
  if (pid_ < 0) return;
  // So short a message is written whole or not at all.
  [[maybe_unused]] const ssize_t written = ::write(line_.number(), &group, sizeof group);
}

}  // namespace tutti::cli
