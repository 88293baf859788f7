#include "api/call/compiled_call.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/collective_check.hpp"
#include "support/problems.hpp"
#include "support/sanitizer.hpp"
#include "support/variant_schedules.hpp"

namespace tutti::test {
namespace {

/// The maximum scratch memory of a rank, as a multiple of the data.
double most_kept(const Algorithm& algorithm) {
  constexpr std::uint64_t size = 720720;
  double most = 0;
  for (std::uint32_t p = 2; p <= 9; ++p) {
    for (const Problem& problem : problems(algorithm, p)) {
      const Contract contract = algorithm.contract(problem);
      const Layout layout = even_layout(contract, size);
      for (std::uint32_t r = 0; r < p; ++r) {
        const Program program = algorithm.program(problem, r);
        for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
          const Plan plan = compile({.program = program,
                                     .contract = contract,
                                     .self = r,
                                     .aliasing = aliasing,
                                     .layout = layout,
                                     .element_bytes = 1});
          most = std::max(most, static_cast<double>(plan.scratch_bytes + plan.spare_bytes) / size);
        }
      }
    }
  }
  return most;
}

TEST(CompiledCall, KnowsWhichAlgorithmsKeepData) {
  for (const Algorithm& algorithm : algorithms()) {
    const double kept = most_kept(algorithm);
    EXPECT_EQ(algorithm.traits().keeps_data, kept > 0) << algorithm.name << " keeps " << kept;
    EXPECT_LT(kept, 2) << algorithm.name;
  }
}

TEST(CompiledCall, RunsLongCallsInParts) {
  // Several parts, the last of them short. Fewer elements with sanitizers, which are slow.
  constexpr std::uint64_t count = is_sanitized ? 1200003 : 3500003;
  std::size_t number = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.traits().keeps_data || (is_sanitized && ++number % 3 != 0)) continue;
    const bool blocks =
        has_block_per_rank(algorithm.collective) || algorithm.collective == Collective::alltoall;
    const Trial trial{.collective = algorithm.collective,
                      .algorithm = std::string(algorithm.name),
                      .dtype = DType::i32,
                      .count = blocks ? count / 3 : count,
                      .in_place = algorithm.collective == Collective::allreduce};
    run_threads(3, [&](Communicator& communicator) {
      EXPECT_EQ(try_call(communicator, trial), "") << algorithm.name;
    });
    const Call call{.collective = algorithm.collective, .count = trial.count, .dtype = DType::i32};
    BlueprintCache blueprints;
    const CompiledCall compiled = compile_call({.call = call,
                                                .method = algorithm,
                                                .self = Rank{1},
                                                .ranks = 3,
                                                .aliasing = Aliasing::in_place,
                                                .lanes = {},
                                                .hosts = Shape{{3, 1}},
                                                .blueprints = blueprints});
    EXPECT_GT(compiled.parts.size(), 1U) << algorithm.name;
    EXPECT_LE(compiled.scratch_bytes + compiled.spare_bytes, 2 * Thresholds{}.part_bytes)
        << algorithm.name;
  }
}

/// The more variants a schedule has, the smaller its parts are.
TEST(CompiledCall, StaysWithinTheMemoryLimitWithManyVariants) {
  const ProvedSchedule relay = prove(relay_allreduce(8));
  const Call call{.collective = Collective::allreduce, .count = 10'000'019, .dtype = DType::f32};
  BlueprintCache blueprints;
  const CompiledCall compiled = compile_call({.call = call,
                                              .method = relay,
                                              .self = Rank{0},
                                              .ranks = 8,
                                              .aliasing = Aliasing::in_place,
                                              .lanes = {},
                                              .hosts = {},
                                              .blueprints = blueprints});
  EXPECT_GT(compiled.scratch_bytes, Thresholds{}.part_bytes);
  EXPECT_LE(compiled.scratch_bytes + compiled.spare_bytes, 2 * Thresholds{}.part_bytes);
}

}  // namespace
}  // namespace tutti::test
