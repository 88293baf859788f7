#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace tutti::measure {

/// The least seconds of one call of `work`, repeated for `how_long`. Other load on the machine can
/// only make a sample slower, so the best one is that of the machine. A sample has at least 100 µs,
/// because reading the clock takes time.
template <class Work>
[[nodiscard]] double best_time(const Work& work, std::chrono::steady_clock::duration how_long) {
  using Clock = std::chrono::steady_clock;
  constexpr double least_sample = 1e-4;
  const Clock::time_point end = Clock::now() + how_long;
  double best = std::numeric_limits<double>::infinity();
  std::uint64_t repeats = 1;
  do {
    const Clock::time_point begin = Clock::now();
    for (std::uint64_t i = 0; i < repeats; ++i) work();
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::min(best, took / static_cast<double>(repeats));
    if (took < least_sample) repeats *= 2;
  } while (Clock::now() < end);
  return best;
}

}  // namespace tutti::measure
