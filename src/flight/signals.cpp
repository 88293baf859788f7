#include "flight/signals.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string_view>

#include "flight/black_box.hpp"
#include "flight/registry.hpp"

namespace tutti {
namespace {

/// A signal and its former action.
struct Watched {
  int signal = 0;
  std::string_view name;
  struct sigaction before {};
};

// Global, since a signal handler has no other way to find them.
constinit Registry<BlackBox> boxes;
constinit std::atomic<bool> is_dumping{false};
std::array<Watched, 6> watched{{{.signal = SIGUSR2, .name = "SIGUSR2"},
                                {.signal = SIGSEGV, .name = "SIGSEGV"},
                                {.signal = SIGBUS, .name = "SIGBUS"},
                                {.signal = SIGABRT, .name = "SIGABRT"},
                                {.signal = SIGFPE, .name = "SIGFPE"},
                                {.signal = SIGTERM, .name = "SIGTERM"}}};

/// Waits for a dump by another thread, so that this signal does not cut it off. The wait is
/// bounded: if the dump itself has crashed, this thread is the one that is dumping.
bool take_turn() {
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int i = 0; i < 100; ++i) {
    if (!is_dumping.exchange(true)) return true;
    nanosleep(&pause, nullptr);
  }
  return false;
}

void dump_all(std::string_view reason) {
  if (!take_turn()) return;
  boxes.visit_all([&](const BlackBox& box) {
    if (!box.is_here()) return;
    // Errors are ignored: a signal handler can neither handle nor report them.
    static_cast<void>(box.dump(reason, ".signal"));
  });
  is_dumping.store(false);
}

void go_on_as_before(const Watched& each, siginfo_t* info, void* context) {
  if ((each.before.sa_flags & SA_SIGINFO) != 0) {
    each.before.sa_sigaction(each.signal, info, context);
  } else if (each.before.sa_handler != SIG_DFL) {
    each.before.sa_handler(each.signal);
  } else if (each.signal != SIGUSR2) {
    sigaction(each.signal, &each.before, nullptr);
    // A faulting instruction runs again on return. A signal that was sent must be raised again.
    if (info->si_code <= 0) raise(each.signal);
  }
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  for (const Watched& each : watched) {
    if (each.signal != signal) continue;
    dump_all(each.name);
    go_on_as_before(each, info, context);
  }
  errno = saved;
}

bool is_left_alone(const Watched& each) {
  const bool has_handler = (each.before.sa_flags & SA_SIGINFO) != 0;
  if (!has_handler && each.before.sa_handler == SIG_IGN) return true;
  return each.signal == SIGUSR2 && (has_handler || each.before.sa_handler != SIG_DFL);
}

bool install() {
  for (Watched& each : watched) {
    sigaction(each.signal, nullptr, &each.before);
    if (is_left_alone(each)) continue;
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    // Block the other signals: one of them could cut off the dump.
    sigemptyset(&action.sa_mask);
    for (const Watched& other : watched) sigaddset(&action.sa_mask, other.signal);
    sigaction(each.signal, &action, nullptr);
  }
  return true;
}

}  // namespace

void dump_on_signals(const BlackBox& box) {
  static_cast<void>(boxes.add(box));
  static const bool is_installed = install();
  static_cast<void>(is_installed);
}

void leave_signals(const BlackBox& box) { boxes.remove(box); }

}  // namespace tutti
