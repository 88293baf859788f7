#include "cli/launch/again.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <tutti/error.hpp>

#include "cli/console/own_program.hpp"
#include "cli/console/text_file.hpp"
#include "cli/launch/rank_process.hpp"
#include "core/system_reason.hpp"

namespace tutti::cli {

namespace {

/// The other process inherits signals and limits as this process got them.
Inheritance inheritance_of(const Interrupts& interrupts) {
  Inheritance inheritance;
  inheritance.blocked = interrupts.blocked_before();
  ::sigaction(SIGPIPE, nullptr, &inheritance.broken_pipe);
  ::getrlimit(RLIMIT_NOFILE, &inheritance.files);
  return inheritance;
}

pid_t start(const std::string& path, std::vector<std::string> words, const Interrupts& interrupts) {
  words.insert(words.begin(), path);
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  const Inheritance inheritance = inheritance_of(interrupts);
  const FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Started started = start_rank({.path = path.c_str(),
                                      .arguments = arguments.data(),
                                      .environment = environ,
                                      .in = nothing.number(),
                                      .out = STDOUT_FILENO,
                                      .err = STDERR_FILENO,
                                      .inheritance = &inheritance});
  if (started.error == 0) return started.pid;
  throw Error(ErrorCode::unsupported, "cannot start " + path + ": " + system_reason(started.error));
}

/// Stops the other process, then this one, as the signal would have done without a handler.
void stop_along(pid_t child) {
  ::kill(child, SIGTSTP);
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
  ::kill(child, SIGCONT);
}

}  // namespace

int run_again(const std::vector<std::string>& words, const Interrupts& interrupts) {
  interrupts.check();
  const pid_t child = start(own_program(), words, interrupts);
  int interrupted = 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) != child) {
    const int signal = interrupts.next();
    if (signal == SIGCHLD) continue;
    if (signal == SIGTSTP) {
      stop_along(child);
    } else {
      interrupted = signal;
      ::kill(child, signal);
    }
  }
  if (interrupted != 0) throw Interrupted(interrupted);
  return Ending{status}.exit_code();
}

TemporaryFile::TemporaryFile() : file_(::memfd_create("tutti", MFD_CLOEXEC)) {
  if (!file_) {
    throw Error(ErrorCode::unsupported, "cannot make a file in memory: " + system_reason(errno));
  }
  path_ = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.number());
  if (::access(path_.c_str(), W_OK) != 0) {
    throw Error(ErrorCode::unsupported,
                "cannot open " + path_ + ": " + system_reason(errno) + "; is /proc mounted?");
  }
}

std::string TemporaryFile::text() const { return read_text(path_); }

}  // namespace tutti::cli
