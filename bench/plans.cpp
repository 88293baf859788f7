// Measures the extra cost of the first call of its kind: choosing an algorithm, building the
// program and compiling it into a plan. plans [RANKS…]. Medians.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <tutti/schedule/algorithm.hpp>

#include "api/call/compiled_call.hpp"
#include "exec/plan.hpp"
#include "select/forecast_cache.hpp"
#include "select/selector.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double median_microseconds(const tutti::Algorithm& algorithm, std::uint32_t ranks) {
  std::vector<double> times;
  for (int i = 0; i < 101; ++i) {
    const Clock::time_point begin = Clock::now();
    const tutti::Problem problem{.ranks = ranks};
    const tutti::Contract contract = algorithm.contract(problem);
    const tutti::Program program = algorithm.program(problem, ranks / 2);
    const tutti::Layout layout = tutti::even_layout(contract, 1 << 20);
    const tutti::Plan plan = tutti::compile({.program = program,
                                             .contract = contract,
                                             .self = ranks / 2,
                                             .aliasing = tutti::Aliasing::out_of_place,
                                             .layout = layout,
                                             .element_bytes = 4});
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    if (plan.operations.empty()) std::abort();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// The time to prepare a call that differs from earlier ones in its size only, in nanoseconds.
double new_size_nanoseconds(std::uint32_t ranks, const tutti::Algorithm& algorithm) {
  tutti::BlueprintCache blueprints;
  const tutti::Method method(algorithm);
  const tutti::Shape hosts{};
  std::vector<double> times;
  for (std::uint64_t i = 0; i < 1001; ++i) {
    const tutti::Call call{
        .collective = algorithm.collective, .count = 2 + i % 500, .dtype = tutti::DType::f32};
    const Clock::time_point begin = Clock::now();
    const tutti::CompiledCall compiled =
        tutti::compile_call({.call = call,
                             .method = method,
                             .self = ranks / 2,
                             .ranks = ranks,
                             .aliasing = tutti::Aliasing::out_of_place,
                             .lanes = {},
                             .hosts = hosts,
                             .thresholds = tutti::Thresholds::usual({}),
                             .blueprints = blueprints});
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    if (compiled.parts.empty()) std::abort();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// Time of the first choice, and of a cached one.
void print_choosing(std::uint32_t ranks) {
  const auto profile = std::make_shared<const tutti::Profile>(tutti::built_in_profile());
  std::vector<double> first;
  std::vector<double> again;
  constexpr std::uint64_t asked = 1000;
  for (int i = 0; i < 101; ++i) {
    tutti::Selector selector(
        tutti::ForecastCache(profile).get(tutti::Party{.ranks = ranks, .cores = 2}), {});
    const auto ask = [&](std::uint64_t bytes) {
      return selector.choose({.collective = tutti::Collective::allreduce, .bytes = bytes})
          .method.name()
          .size();
    };
    std::size_t sum = 0;
    const Clock::time_point begin = Clock::now();
    sum += ask(1 << 20);
    const Clock::time_point middle = Clock::now();
    for (std::uint64_t k = 0; k < asked; ++k) sum += ask((1 << 20) + k);
    const Clock::time_point end = Clock::now();
    if (sum == 0) std::abort();
    first.push_back(std::chrono::duration<double, std::micro>(middle - begin).count());
    again.push_back(std::chrono::duration<double, std::nano>(end - middle).count() / asked);
  }
  std::sort(first.begin(), first.end());
  std::sort(again.begin(), again.end());
  std::printf("choosing an allreduce                p=%u: %8.1f us the first time, %.0f ns again\n",
              ranks, first[first.size() / 2], again[again.size() / 2]);
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
  for (const std::uint32_t p : ranks) print_choosing(p);
  for (const char* const name : {"allreduce/mesh", "allreduce/recursive_doubling",
                                 "allreduce/mesh_two_shot", "allreduce/ring", "broadcast/flat"}) {
    std::printf("%-32s, new size: ", name);
    for (const std::uint32_t p : ranks) {
      std::printf("  p=%u: %6.0f ns", p, new_size_nanoseconds(p, tutti::algorithm(name)));
    }
    std::printf("\n");
  }
}
