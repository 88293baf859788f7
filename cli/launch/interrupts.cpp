#include "cli/launch/interrupts.hpp"

#include <poll.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <string>

#include <tutti/error.hpp>

#include "cli/launch/rank_process.hpp"
#include "core/system_reason.hpp"

namespace tutti::cli {

Interrupted::Interrupted(int signal)
    : std::runtime_error("interrupted by " + signal_name(signal)), signal_(signal) {}

Interrupts::Interrupts() {
  sigset_t heard;
  ::sigemptyset(&heard);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD}) {
    ::sigaddset(&heard, each);
  }
  signals_ = FileDescriptor(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) {
    throw Error(ErrorCode::unsupported, "cannot read signals: " + system_reason(errno));
  }
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;  // If SIGCHLD is ignored, the kernel discards exit codes.
  ::sigaction(SIGCHLD, &usual, &child_before_);
  ::sigprocmask(SIG_BLOCK, &heard, &before_);
}

Interrupts::~Interrupts() {
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Interrupts::next() const {
  signalfd_siginfo info{};
  while (::read(signals_.number(), &info, sizeof info) != sizeof info) {
    pollfd readable{.fd = signals_.number(), .events = POLLIN, .revents = 0};
    ::poll(&readable, 1, -1);
  }
  return static_cast<int>(info.ssi_signo);
}

void Interrupts::check() const {
  signalfd_siginfo info{};
  while (::read(signals_.number(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal != SIGCHLD && signal != SIGTSTP) throw Interrupted(signal);
  }
}

}  // namespace tutti::cli
