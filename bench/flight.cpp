// What the flight recorder adds to a call between two threads, and what it costs to know the time:
// flight. Nanoseconds, the best of many samples. Needs two cores.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <thread>

#include "flight/recorder.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr tutti::FlightCall some_call{.kind = tutti::FlightKind::allreduce,
                                      .dtype = tutti::DType::f32,
                                      .count = 2,
                                      .bytes = 8,
                                      .algorithm = "allreduce/ring"};

template <class F>
double nanoseconds(const F& run) {
  constexpr int batch = 1000;
  double best = 1e9;
  for (int sample = 0; sample < 2000; ++sample) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < batch; ++i) run();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return best / batch;
}

void print(const char* what, double ns) { std::printf("%-44s %6.2f\n", what, ns); }

/// Keeps the compiler from leaving out what makes it.
void use(std::uint64_t value) { asm volatile("" : : "r"(value)); }

void ask_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  use(static_cast<std::uint64_t>(now.tv_nsec));
}

/// When a call is recorded.
enum class When { never, before_sending, after_sending };

struct alignas(128) Flag {
  std::atomic<std::uint64_t> number{0};
};

/// What is recorded before data goes out delays it, for data must not overtake what was written
/// before it; what is recorded afterwards is done while the peer's answer is on its way.
double exchange(When when, Flag& mine, const Flag& peers) {
  tutti::FlightRecorder recorder({});
  std::uint64_t number = 0;
  return nanoseconds([&] {
    ++number;
    if (when == When::before_sending) recorder.begin(number, some_call);
    mine.number.store(number, std::memory_order_release);
    if (when == When::after_sending) recorder.begin(number, some_call);
    while (peers.number.load(std::memory_order_acquire) < number) {
    }
    if (when != When::never) recorder.end();
  });
}

double exchange(When when) {
  std::array<Flag, 2> flags;
  std::thread peer([&] { exchange(when, flags[1], flags[0]); });
  const double ns = exchange(when, flags[0], flags[1]);
  peer.join();
  return ns;
}

}  // namespace

int main() {
  tutti::FlightRecorder recorder({});
  std::uint64_t number = 0;
  const auto record = [&](std::string_view site) {
    return nanoseconds([&] {
      recorder.begin(++number, some_call, site);
      recorder.end();
    });
  };
  print("begin and end, over and over", record(""));
  print("begin and end, at 'step 12'", record("step 12"));
  print("a call between two threads", exchange(When::never));
  print("the same, recorded before it sends", exchange(When::before_sending));
  print("the same, recorded after it has sent", exchange(When::after_sending));
  print("ticks()", nanoseconds([] { use(tutti::ticks()); }));
  print("CLOCK_MONOTONIC", nanoseconds([] { ask_clock(CLOCK_MONOTONIC); }));
  print("CLOCK_MONOTONIC_COARSE", nanoseconds([] { ask_clock(CLOCK_MONOTONIC_COARSE); }));
}
