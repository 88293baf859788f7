#include "cli/launch/again.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <tutti/error.hpp>

#include "cli/console/own_program.hpp"
#include "cli/console/text_file.hpp"
#include "cli/launch/crew.hpp"
#include "core/system_reason.hpp"

namespace tutti::cli {

namespace {

/// Starts this program; all signals to the crew are then for it.
void start_again(Crew& crew, std::vector<std::string> words) {
  const std::string path = own_program();
  words.insert(words.begin(), path);
  const FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int error = crew.start({.path = path,
                                .words = std::move(words),
                                .in = nothing.number(),
                                .out = STDOUT_FILENO,
                                .err = STDERR_FILENO});
  if (error == 0) return;
  throw Error(ErrorCode::unsupported, "cannot start " + path + ": " + system_reason(error));
}

}  // namespace

int run_again(const std::vector<std::string>& words, const Interrupts& interrupts) {
  interrupts.check();
  Crew crew(interrupts);
  start_again(crew, words);
  int interrupted = 0;
  while (crew.alive() > 0) {
    const int signal = interrupts.next();
    if (signal == SIGCHLD) {
      (void)crew.reap();
      continue;
    }
    crew.signal(signal);
    if (signal == SIGTSTP) {
      stop_self();
      crew.signal(SIGCONT);
    } else {
      interrupted = signal;
    }
  }
  if (interrupted != 0) throw Interrupted(interrupted);
  return crew.ending(0).exit_code();
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
