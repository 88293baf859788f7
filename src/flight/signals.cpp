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

/// A signal, and what it did before.
struct Watched {
  int signal = 0;
  std::string_view name;
  struct sigaction before {};
};

// A signal handler finds nothing but what stands still, hence these three.
constinit Registry<BlackBox> boxes;
constinit std::atomic<bool> is_dumping{false};
std::array<Watched, 6> watched{{{.signal = SIGUSR2, .name = "SIGUSR2"},
                                {.signal = SIGSEGV, .name = "SIGSEGV"},
                                {.signal = SIGBUS, .name = "SIGBUS"},
                                {.signal = SIGABRT, .name = "SIGABRT"},
                                {.signal = SIGFPE, .name = "SIGFPE"},
                                {.signal = SIGTERM, .name = "SIGTERM"}}};

/// Waits for a dump that another thread is at, so that this signal does not end it, but not for
/// ever: this thread may be the one, if the dump itself went wrong.
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
    // A full disk is no news to who is about to die, and here nothing can be done about it.
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
    // What this thread did wrong it does again on return; what was sent must be sent again.
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
    // One at a time: a dump that another of them cuts off would be none.
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
