#include "cli/measure/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include "cli/measure/quantile.hpp"

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
          .p90 = quantile(sorted, 0.9),
          .mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) /
                  static_cast<double>(std::max<std::size_t>(sorted.size(), 1))};
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

double time_in_batches(Communicator& aside, const Pace& pace, const std::function<void()>& call,
                       const std::function<void()>& rewrite) {
  std::vector<double> durations;
  // Returns the time of the batch, with all that is not measured.
  const auto run = [&](std::size_t calls) {
    durations.clear();
    return batch(aside, calls, [&] {
      rewrite();
      aside.barrier();
      const Clock::time_point begin = Clock::now();
      call();
      durations.push_back(microseconds_since(begin));
    });
  };
  const auto median = [&] {
    aside.all_reduce(durations, Op::max);
    return median_of(durations);
  };
  if (pace.iterations) {
    (void)run(pace.warm_ups.value_or(1));
    (void)run(*pace.iterations);
    return median();
  }
  constexpr double length = 1000;
  constexpr double least_length = 0.75 * length;
  constexpr double least_calls = 4;
  constexpr double most_growth = 8;
  constexpr double long_call = 50'000;
  double size = 1;
  if (std::isfinite(pace.give_up)) {
    const auto once = [&] {
      (void)run(1);
      return median();
    };
    double took = once();
    if (took > 1e6 * pace.give_up) took = once();
    // For a call this long, the median of several says no more.
    if (took > 1e6 * pace.give_up || took > long_call) return took;
  }
  if (pace.expected > 0) {
    // Rewriting and the barrier may take longer than the call.
    const double some = std::max(1.0, length / (1e6 * pace.expected) / most_growth);
    size = std::max(least_calls, some * length / run(static_cast<std::size_t>(some)));
  }
  std::vector<double> medians;
  double spent = 0;
  while (medians.empty() || spent < 1e6 * pace.seconds) {
    const double took = run(static_cast<std::size_t>(size));
    if ((took >= least_length && size >= least_calls) || size >= most_iterations) {
      medians.push_back(median());
      spent += took;
    } else {
      size *= std::clamp(1.1 * length / took, 1.5, most_growth);
      size = std::clamp(size, least_calls, double{most_iterations});
    }
  }
  return median_of(std::move(medians));
}

}  // namespace tutti::measure
