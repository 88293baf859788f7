#include "cli/measure/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "cli/measure/best_time.hpp"
#include "cli/measure/loopback.hpp"
#include "cli/measure/memory_rates.hpp"
#include "core/cores.hpp"

namespace tutti::measure {
namespace {

/// Longer than for rates: two cores must be free at the same time.
constexpr std::chrono::milliseconds flag_figure{25};

using Cores = std::vector<cpu_set_t>;

/// All cores of the host: a launcher may have bound this process to one of them.
Cores all_cores() {
  Cores cores;
  std::thread([&] {
    cpu_set_t all;
    std::memset(&all, 0xFF, sizeof all);
    ::sched_setaffinity(0, sizeof all, &all);
    cores = allowed_cores();
  }).join();
  return cores;
}

/// A number that one thread sets and another thread polls, on a cache line of its own.
class Flag {
 public:
  /// Polls until the number differs from `last`, and returns it.
  [[nodiscard]] std::uint64_t next_after(std::uint64_t last, bool crowded) const {
    std::uint64_t value = last;
    for (std::uint32_t spins = 1; value == last; ++spins) {
      value = number_.load(std::memory_order_acquire);
      // On a single core the other thread must get to run. With several cores it may have been
      // preempted.
      if (value == last && (crowded || spins % 4096 == 0)) std::this_thread::yield();
    }
    return value;
  }
  void set(std::uint64_t number) { number_.store(number, std::memory_order_release); }

 private:
  alignas(64) std::atomic<std::uint64_t> number_{0};
};

constexpr std::uint64_t over = ~std::uint64_t{0};

/// Half of a round trip.
double flag_between(const cpu_set_t& one, const cpu_set_t& other, bool crowded) {
  Flag ping;
  Flag pong;
  std::thread echo([&] {
    stay_on(other);
    for (std::uint64_t seen = 0; seen != over;) {
      seen = ping.next_after(seen, crowded);
      pong.set(seen);
    }
  });
  double round_trip = 0;
  std::thread caller([&] {
    stay_on(one);
    std::uint64_t last = 0;
    round_trip = best_time(
        [&] {
          ping.set(last + 1);
          last = pong.next_after(last, crowded);
        },
        flag_figure);
    ping.set(over);
  });
  caller.join();
  echo.join();
  return round_trip / 2;
}

/// Seconds per line of a stream from one core to the other. The receiver answers once per round of
/// the buffer only.
double note_between(const cpu_set_t& one, const cpu_set_t& other, bool crowded) {
  constexpr std::uint64_t lines = 32;
  std::array<Flag, lines> ring;
  Flag answer;
  std::thread receiver([&] {
    stay_on(other);
    for (std::uint64_t round = 0;; ++round) {
      for (Flag& line : ring) {
        if (line.next_after(round, crowded) == over) return;
      }
      answer.set(round + 1);
    }
  });
  double each = 0;
  std::thread sender([&] {
    stay_on(one);
    std::uint64_t round = 0;
    each = best_time(
               [&] {
                 ++round;
                 for (Flag& line : ring) line.set(round);
                 (void)answer.next_after(round - 1, crowded);
               },
               flag_figure) /
           static_cast<double>(lines);
    ring.front().set(over);
  });
  sender.join();
  receiver.join();
  return each;
}

/// Between two neighbours and between the two most distant cores. The better one counts: nobody
/// knows on which cores the ranks run.
void measure_flags(Machine& machine, const Cores& cores) {
  const bool crowded = cores.size() < 2;
  machine.flag = std::numeric_limits<double>::infinity();
  machine.note = std::numeric_limits<double>::infinity();
  const std::size_t second = crowded ? 0 : 1;
  const auto add = [&](const cpu_set_t& other) {
    machine.flag = std::min(machine.flag, flag_between(cores.front(), other, crowded));
    machine.note = std::min(machine.note, note_between(cores.front(), other, crowded));
  };
  add(cores[second]);
  if (second + 1 < cores.size()) add(cores.back());
}

}  // namespace

const Machine::Memory& Machine::memory_at(std::uint64_t bytes) const {
  const auto above =
      std::find_if(memory.begin(), memory.end(), [&](const Memory& m) { return m.bytes > bytes; });
  return above == memory.begin() ? *above : *(above - 1);
}

Machine measure_machine(std::uint32_t ranks, std::uint64_t most_bytes, bool loopback) {
  const Cores cores = all_cores();
  Machine machine{.cores = static_cast<std::uint32_t>(cores.size()),
                  .memory = measure_memory(ranks, most_bytes, cores)};
  measure_flags(machine, cores);
  if (loopback) machine.loopback = measure_loopback(ranks, cores);
  return machine;
}

}  // namespace tutti::measure
