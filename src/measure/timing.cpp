#include "measure/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "measure/quantile.hpp"

namespace tutti::measure {
namespace {

using Clock = std::chrono::steady_clock;

/// Enough for a median, and few enough that the durations are quickly reduced over ranks.
constexpr std::size_t most_iterations = 200'000;
constexpr std::size_t least_iterations = 10;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double maximum(Communicator& aside, double own) {
  aside.all_reduce(std::span(&own, 1), Op::max);
  return own;
}

/// Runs a batch on all ranks at once. Returns the time of the slowest rank.
template <class Each>
double batch(Communicator& aside, std::size_t iterations, const Each& each) {
  aside.barrier();
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < iterations; ++i) each();
  return maximum(aside, microseconds_since(begin));
}

/// Returns an estimate of the time of one call, the same on all ranks.
double warm_up(Communicator& aside, const Pace& pace, const std::function<void()>& call) {
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

std::size_t iterations_for(const Pace& pace, double estimate) {
  if (pace.iterations) return *pace.iterations;
  const double wanted = pace.seconds * 1e6 / std::max(estimate, 0.01);
  return std::max(least_iterations,
                  static_cast<std::size_t>(std::min(wanted, double{most_iterations})));
}

Timing summary(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  return {.iterations = sorted.size(),
          .median = quantile(sorted, 0.5),
          .p10 = quantile(sorted, 0.1),
          .p90 = quantile(sorted, 0.9)};
}

}  // namespace

Timing time_call(Communicator& aside, const Pace& pace, const std::function<void()>& call,
                 const std::function<void()>& rewrite) {
  const bool rewrites = pace.fresh && rewrite;
  const std::size_t iterations = iterations_for(pace, warm_up(aside, pace, call));
  // The estimate can be far off where ranks share cores. So the ranks compare the time spent after
  // each of about eight parts.
  const std::size_t share =
      pace.iterations ? iterations : std::max(least_iterations / 2, iterations / 8);
  std::vector<double> durations;
  durations.reserve(iterations);
  double spent = 0;
  while (durations.size() < iterations && (pace.iterations || spent < pace.seconds * 1e6)) {
    spent += batch(aside, std::min(share, iterations - durations.size()), [&] {
      if (rewrites) rewrite();
      if (pace.barrier || rewrites) aside.barrier();
      const Clock::time_point begin = Clock::now();
      call();
      durations.push_back(microseconds_since(begin));
    });
  }
  aside.all_reduce(durations, Op::max);
  return summary(std::move(durations));
}

double time_in_batches(Communicator& aside, const Pace& pace, const std::function<void()>& call) {
  if (pace.iterations) {
    (void)batch(aside, pace.warm_ups.value_or(1), call);
    return batch(aside, *pace.iterations, call) / static_cast<double>(*pace.iterations);
  }
  // All batches are equally long. The first calls of a batch find empty buffers, so short batches
  // would favour algorithms whose root runs ahead.
  constexpr double length = 2000;
  constexpr double least_length = 0.75 * length;
  constexpr double least_calls = 4;
  constexpr double most_growth = 8;
  double size = 1;
  if (pace.expected > 0) {
    size = std::max(least_calls, length / (1e6 * pace.expected));
    (void)batch(aside, static_cast<std::size_t>(size / least_calls), call);
  }
  std::vector<double> means;
  double spent = 0;
  while (means.empty() || spent < 1e6 * pace.seconds) {
    const double took = batch(aside, static_cast<std::size_t>(size), call);
    if ((took >= least_length && size >= least_calls) || size >= most_iterations) {
      means.push_back(took / std::floor(size));
      spent += took;
    } else {
      size *= std::clamp(1.1 * length / took, 1.5, most_growth);
      size = std::clamp(size, least_calls, double{most_iterations});
    }
  }
  return median_of(std::move(means));
}

}  // namespace tutti::measure
