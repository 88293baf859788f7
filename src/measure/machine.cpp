#include "measure/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include "kernels/fold.hpp"
#include "measure/cores.hpp"
#include "measure/loopback.hpp"

namespace tutti::measure {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The time for each figure, and the least length of one timed sample.
constexpr milliseconds each_figure{12};
constexpr milliseconds flag_figure{40};  // Longer: two cores must be free at the same time.
constexpr microseconds least_sample{100};

/// Memory for all buffers together: larger than most caches, and touched quickly.
constexpr std::uint64_t most_memory = std::uint64_t{64} << 20U;
constexpr std::uint64_t smallest_class = std::uint64_t{16} << 10U;
constexpr std::uint64_t between_classes = 16;
constexpr std::uint64_t granule = 4096;
/// Buffers at equal offsets would evict each other from the cache.
constexpr std::uint64_t stagger = std::uint64_t{17} * 64;

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

/// Two threads of one measurement must not share a core.
void stay_on(const cpu_set_t& core) { ::sched_setaffinity(0, sizeof core, &core); }

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The least seconds of one call of `work`, repeated for `how_long`.
double best_time(const std::function<void()>& work, Clock::duration how_long = each_figure) {
  const Clock::time_point end = Clock::now() + how_long;
  double best = std::numeric_limits<double>::infinity();
  std::uint64_t repeats = 1;
  do {
    const Clock::time_point begin = Clock::now();
    for (std::uint64_t i = 0; i < repeats; ++i) work();
    const double took = seconds_since(begin);
    best = std::min(best, took / static_cast<double>(repeats));
    if (took < std::chrono::duration<double>(least_sample).count()) repeats *= 2;
  } while (Clock::now() < end);
  return best;
}

/// The buffers of all ranks and one for the result, and threads that each process one slice.
class Team {
 public:
  Team(std::uint32_t ranks, std::uint64_t most_bytes, const Cores& cores)
      : ranks_(ranks),
        cores_(cores),
        threads_(std::min(ranks, static_cast<std::uint32_t>(cores.size()))),
        most_(std::clamp(most_bytes, granule, most_memory / (ranks + 1)) / granule * granule),
        memory_((most_ + stagger) * (ranks + 1)),
        add_(fold(DType::f32, Op::sum)) {}

  [[nodiscard]] std::uint64_t most() const { return most_; }

  [[nodiscard]] Machine::Memory measure(std::uint64_t bytes) {
    const std::uint64_t slice = std::max<std::uint64_t>(64, bytes / threads_ / 64 * 64);
    const std::uint64_t copies = std::max(ranks_ - 1, 1U);
    const double copy = rate(slice * copies, [&](std::uint64_t from) { copy_result(from, slice); });
    const double sum = rate(slice, [&](std::uint64_t from) { add_up(from, slice); });
    return {.bytes = bytes, .copy = copy, .sum = sum};
  }

 private:
  [[nodiscard]] std::byte* buffer(std::uint32_t index) {
    return memory_.data() + index * (most_ + stagger);
  }
  [[nodiscard]] std::byte* result() { return buffer(ranks_); }

  void copy_result(std::uint64_t from, std::uint64_t slice) {
    for (std::uint32_t i = 0; i < std::max(ranks_ - 1, 1U); ++i) {
      std::memcpy(buffer(i) + from, result() + from, slice);
    }
  }

  void add_up(std::uint64_t from, std::uint64_t slice) {
    thread_local std::vector<const void*> operands;
    operands.clear();
    for (std::uint32_t i = 0; i < ranks_; ++i) operands.push_back(buffer(i) + from);
    add_(result() + from, nullptr, operands.data(), ranks_, slice / sizeof(float));
  }

  /// Bytes per second of all threads together. Each call work(begin of the slice) handles `bytes`.
  template <class Work>
  [[nodiscard]] double rate(std::uint64_t bytes, const Work& work) {
    std::vector<double> rates(threads_);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < threads_; ++t) {
      threads.emplace_back([&, t] {
        stay_on(cores_[t]);
        const std::uint64_t from = most_ / threads_ / 64 * 64 * t;
        rates[t] = static_cast<double>(bytes) / best_time([&] { work(from); });
      });
    }
    for (std::thread& each : threads) each.join();
    double sum = 0;
    for (const double each : rates) sum += each;
    return sum;
  }

  std::uint32_t ranks_;
  const Cores& cores_;
  std::uint32_t threads_;
  std::uint64_t most_;
  std::vector<std::byte> memory_;
  Fold add_;
};

std::vector<Machine::Memory> measure_memory(std::uint32_t ranks, std::uint64_t most_bytes,
                                            const Cores& cores) {
  Team team(ranks, most_bytes, cores);
  std::vector<Machine::Memory> found;
  for (std::uint64_t bytes = smallest_class; bytes < team.most(); bytes *= between_classes) {
    found.push_back(team.measure(bytes));
  }
  found.push_back(team.measure(team.most()));
  return found;
}

/// A number that one thread sets and another thread polls.
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

/// Half of a round trip.
double measure_flag(const Cores& cores) {
  constexpr std::uint64_t over = ~std::uint64_t{0};
  const bool crowded = cores.size() < 2;
  Flag ping;
  Flag pong;
  std::thread echo([&] {
    stay_on(cores.back());
    for (std::uint64_t seen = 0; seen != over;) {
      seen = ping.next_after(seen, crowded);
      pong.set(seen);
    }
  });
  double round_trip = 0;
  std::thread caller([&] {
    stay_on(cores.front());
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

}  // namespace

const Machine::Memory& Machine::memory_at(std::uint64_t bytes) const {
  const auto distance = [bytes](const Memory& each) {
    return std::abs(std::log(static_cast<double>(each.bytes) /
                             static_cast<double>(std::max<std::uint64_t>(bytes, 1))));
  };
  return *std::min_element(memory.begin(), memory.end(), [&](const Memory& a, const Memory& b) {
    return distance(a) < distance(b);
  });
}

Machine measure_machine(std::uint32_t ranks, std::uint64_t most_bytes, bool loopback) {
  const Cores cores = all_cores();
  Machine machine{.cores = static_cast<std::uint32_t>(cores.size()),
                  .memory = measure_memory(ranks, most_bytes, cores),
                  .flag = measure_flag(cores)};
  if (loopback) machine.loopback = measure_loopback(std::min(ranks, machine.cores));
  return machine;
}

}  // namespace tutti::measure
