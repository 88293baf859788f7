// What the first call of its kind costs besides the call itself: building the program and compiling
// it into a plan. plans [RANKS…]. Microseconds, the median of many.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <tutti/algorithm.hpp>

#include "exec/plan.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double median_microseconds(const tutti::Algorithm& algorithm, std::uint32_t ranks) {
  std::vector<double> times;
  for (int i = 0; i < 101; ++i) {
    const Clock::time_point begin = Clock::now();
    const tutti::Problem problem{.ranks = ranks};
    const tutti::Contract contract = algorithm.contract(problem);
    const tutti::Program program = algorithm.program(problem, tutti::Rank{ranks / 2});
    const tutti::Layout layout = tutti::even_layout(contract, 1 << 20);
    const tutti::Plan plan = tutti::compile({.program = program,
                                             .contract = contract,
                                             .self = tutti::Rank{ranks / 2},
                                             .aliasing = tutti::Aliasing::out_of_place,
                                             .layout = layout,
                                             .element_bytes = 4});
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    if (plan.operations.empty()) std::abort();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::uint32_t> ranks;
  for (int i = 1; i < argc; ++i) ranks.push_back(static_cast<std::uint32_t>(std::atoi(argv[i])));
  if (ranks.empty()) ranks = {2, 4, 8, 64};
  for (const tutti::Algorithm& algorithm : tutti::algorithms(tutti::Collective::allreduce)) {
    if (algorithm.needs_shape()) continue;
    std::printf("%-32s", std::string(algorithm.name).c_str());
    for (const std::uint32_t p : ranks) {
      std::printf("  p=%u: %8.1f us", p, median_microseconds(algorithm, p));
    }
    std::printf("\n");
  }
}
