#include "cli/bench/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace tutti::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Enough for a median; and the durations of so many are quickly reduced.
constexpr std::size_t most_iterations = 200'000;
constexpr std::size_t least_iterations = 10;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double maximum(Communicator& aside, double own) {
  aside.all_reduce(std::span(&own, 1), Op::max);
  return own;
}

/// Runs a batch on all ranks at once; returns how long it took on the slowest.
template <class Each>
double batch(Communicator& aside, std::size_t iterations, const Each& each) {
  aside.barrier();
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < iterations; ++i) each();
  return maximum(aside, microseconds_since(begin));
}

/// Returns about how long one call takes, the same on all ranks.
double warm_up(Communicator& aside, const BenchPace& pace, const std::function<void()>& call) {
  if (pace.warm_ups) {
    const double took = batch(aside, *pace.warm_ups, call);
    if (*pace.warm_ups > 0) return took / static_cast<double>(*pace.warm_ups);
  }
  if (pace.iterations) return 0;
  const double enough = pace.seconds * 1e6 / 8;
  for (std::size_t size = 1;; size *= 2) {
    const double took = batch(aside, size, call);
    if (took >= enough || size >= most_iterations) return took / static_cast<double>(size);
  }
}

std::size_t iterations_for(const BenchPace& pace, double estimate) {
  if (pace.iterations) return *pace.iterations;
  const double wanted = pace.seconds * 1e6 / std::max(estimate, 0.01);
  return std::max(least_iterations,
                  static_cast<std::size_t>(std::min(wanted, double{most_iterations})));
}

BenchTiming summary(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  return {.iterations = sorted.size(),
          .median = quantile(sorted, 0.5),
          .p10 = quantile(sorted, 0.1),
          .p90 = quantile(sorted, 0.9)};
}

}  // namespace

double quantile(std::span<const double> sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

double median_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return quantile(numbers, 0.5);
}

BenchTiming time_call(Communicator& aside, const BenchPace& pace,
                      const std::function<void()>& call) {
  const std::size_t iterations = iterations_for(pace, warm_up(aside, pace, call));
  // An estimate may be wrong by far where ranks share cores, so they look at the clock together now
  // and then.
  const std::size_t share =
      pace.iterations ? iterations : std::max(least_iterations / 2, iterations / 8);
  std::vector<double> durations;
  durations.reserve(iterations);
  double spent = 0;
  while (durations.size() < iterations && (pace.iterations || spent < pace.seconds * 1e6)) {
    spent += batch(aside, std::min(share, iterations - durations.size()), [&] {
      if (pace.barrier) aside.barrier();
      const Clock::time_point begin = Clock::now();
      call();
      durations.push_back(microseconds_since(begin));
    });
  }
  aside.all_reduce(durations, Op::max);
  return summary(std::move(durations));
}

double time_in_batches(Communicator& aside, const BenchPace& pace,
                       const std::function<void()>& call) {
  // Always as long, since the first calls of a batch may find empty buffers on their way.
  constexpr double batch_seconds = 0.002;
  constexpr std::size_t least_batch = 4;
  const double estimate = warm_up(aside, pace, call);
  std::size_t size = pace.iterations.value_or(least_batch);
  std::size_t batches = 1;
  if (!pace.iterations) {
    size = std::max(size, static_cast<std::size_t>(1e6 * batch_seconds / std::max(estimate, 0.01)));
    batches = std::max(batches, static_cast<std::size_t>(pace.seconds / batch_seconds));
  }
  std::vector<double> means;
  for (std::size_t i = 0; i < batches; ++i) {
    means.push_back(batch(aside, size, call) / static_cast<double>(size));
  }
  return median_of(std::move(means));
}

}  // namespace tutti::cli
