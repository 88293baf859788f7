#include "cli/launch/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"

namespace tutti::cli {

Signals::Signals(std::initializer_list<int> heard) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int each : heard) ::sigaddset(&set, each);
  file_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!file_) throw Error(ErrorCode::unsupported, "cannot read signals: " + system_reason(errno));
  ::sigaction(SIGPIPE, nullptr, &inheritance_.broken_pipe);
  ::getrlimit(RLIMIT_NOFILE, &inheritance_.files);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;  // If SIGCHLD is ignored, the kernel discards exit codes.
  ::sigaction(SIGCHLD, &usual, &child_before_);
  ::sigprocmask(SIG_BLOCK, &set, &inheritance_.blocked);
}

int Signals::take() const {
  signalfd_siginfo info{};
  const bool got = ::read(file(), &info, sizeof info) == sizeof info;
  return got ? static_cast<int>(info.ssi_signo) : 0;
}

void stop_self() {
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

Interrupted::Interrupted(int signal)
    : std::runtime_error("interrupted by " + signal_name(signal)), signal_(signal) {}

Interrupts::Interrupts() : Signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD}) {}

Interrupts::~Interrupts() {
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &inheritance().blocked, nullptr);
}

int Interrupts::next() const {
  while (true) {
    if (const int signal = take(); signal != 0) return signal;
    pollfd readable{.fd = file(), .events = POLLIN, .revents = 0};
    ::poll(&readable, 1, -1);
  }
}

void Interrupts::check() const {
  while (const int signal = take()) {
    if (signal != SIGCHLD && signal != SIGTSTP) throw Interrupted(signal);
  }
}

}  // namespace tutti::cli
