#include "exec/executor.hpp"

#include <array>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/crew.hpp"
#include "support/problems.hpp"
#include "support/variant_schedules.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

// Small slots and slices, so that little data makes long pipelines.
constexpr Crew::Staging outbox{.slots = 8, .slot_bytes = 256};
constexpr std::size_t slice = 256;

class EveryAlgorithm : public ::testing::TestWithParam<const Algorithm*> {};

TEST_P(EveryAlgorithm, ExecutesCorrectly) {
  const Algorithm& algorithm = *GetParam();
  for (const std::uint32_t p : {1U, 2U, 3U, 4U, 5U, 8U}) {
    for (const Sight sight : {Sight::staged, Sight::direct, Sight::tcp}) {
      Crew crew(p, sight, outbox, slice);
      const std::vector<Problem> all = problems(algorithm, p);
      const Problem& problem = all[all.size() / 2];
      const Schedule schedule = algorithm.schedule(problem);
      for (const std::uint64_t count : {0U, 1U, 7U, 64U, 65U, 1000U}) {
        for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
          // In place, blocks of an alltoall swap places, so they must have equal sizes.
          const bool uneven = algorithm.collective == Collective::alltoall && count % p != 0;
          if (uneven && aliasing == Aliasing::in_place) continue;
          EXPECT_EQ(run_and_check(crew, schedule, even_layout(schedule.contract, count), aliasing),
                    "")
              << algorithm.name << " " << words(problem) << " count " << count << " sight "
              << static_cast<int>(sight) << " in place " << (aliasing == Aliasing::in_place);
        }
      }
    }
  }
}

/// Longer messages are sent one after another, too, if receivers read them in place.
TEST_P(EveryAlgorithm, ExecutesLongerMessagesThatAreReadInPlace) {
  const Algorithm& algorithm = *GetParam();
  if (algorithm.collective == Collective::barrier) GTEST_SKIP() << "a barrier has no data";
  for (const std::uint32_t p : {2U, 3U, 5U}) {
    Crew crew(p, Sight::direct, outbox, slice);
    const Problem problem = problems(algorithm, p).back();
    const Schedule schedule = algorithm.schedule(problem);
    for (const std::uint64_t count : {p * 1100U, p * 3000U}) {
      for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
        EXPECT_EQ(run_and_check(crew, schedule, even_layout(schedule.contract, count), aliasing),
                  "")
            << algorithm.name << " " << words(problem) << " count " << count << " in place "
            << (aliasing == Aliasing::in_place);
      }
    }
  }
}

TEST_P(EveryAlgorithm, ExecutesInSegments) {
  const Algorithm& algorithm = *GetParam();
  if (algorithm.collective == Collective::barrier) GTEST_SKIP() << "a barrier has no data";
  Random random(3);
  for (const std::uint32_t p : {2U, 5U}) {
    for (const Sight sight : {Sight::staged, Sight::direct, Sight::tcp}) {
      Crew crew(p, sight, outbox, slice);
      const Problem problem = problems(algorithm, p).back();
      const Schedule schedule = algorithm.schedule(problem);
      for (const std::uint64_t segment : {16U, 64U}) {
        const std::uint64_t count = p * (200 + random.below(200U));
        for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
          EXPECT_EQ(run_and_check(crew, schedule, even_layout(schedule.contract, count), aliasing,
                                  segment),
                    "")
              << algorithm.name << " " << words(problem) << " count " << count << " segment "
              << segment << " sight " << static_cast<int>(sight) << " in place "
              << (aliasing == Aliasing::in_place);
        }
        const Layout layout = random_layout(schedule.contract.chunks, random);
        EXPECT_EQ(run_and_check(crew, schedule, layout, Aliasing::out_of_place, segment), "")
            << algorithm.name << " " << words(problem) << " segment " << segment;
      }
    }
  }
}

TEST_P(EveryAlgorithm, AcceptsCountsThatDifferByChunk) {
  const Algorithm& algorithm = *GetParam();
  if (algorithm.collective == Collective::barrier) GTEST_SKIP() << "a barrier has no data";
  Random random(7);
  for (std::size_t i = 0; i < 6; ++i) {
    const Problem problem = random_problem(algorithm, 6, random);
    const Schedule schedule = algorithm.schedule(problem);
    const Sight sight = std::array{Sight::staged, Sight::direct, Sight::tcp}[i % 3];
    Crew crew(problem.ranks, sight, outbox, slice);
    const Layout layout = random_layout(schedule.contract.chunks, random);
    EXPECT_EQ(run_and_check(crew, schedule, layout, Aliasing::out_of_place), "")
        << algorithm.name << " " << words(problem);
  }
}

INSTANTIATE_TEST_SUITE_P(Exec, EveryAlgorithm, ::testing::ValuesIn(every_algorithm()),
                         [](const auto& each) { return test_name(*each.param); });

TEST(LocalSteps, ExecuteCorrectly) {
  for (const std::uint32_t p : {1U, 2U, 3U, 5U, 8U}) {
    for (const Sight sight : {Sight::staged, Sight::direct, Sight::tcp}) {
      Crew crew(p, sight, outbox, slice);
      for (const Schedule& schedule : variant_schedules(p)) {
        for (const std::uint64_t count : {0U, 1U, 7U, 64U, 65U, 1000U}) {
          for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
            const bool uneven =
                schedule.contract.collective == Collective::alltoall && count % p != 0;
            if (uneven && aliasing == Aliasing::in_place) continue;
            EXPECT_EQ(
                run_and_check(crew, schedule, even_layout(schedule.contract, count), aliasing), "")
                << schedule.name << " p=" << p << " count " << count << " sight "
                << static_cast<int>(sight) << " in place " << (aliasing == Aliasing::in_place);
          }
        }
      }
    }
  }
}

TEST(LocalSteps, AcceptCountsThatDifferByChunk) {
  Random random(11);
  for (std::size_t i = 0; i < 12; ++i) {
    const std::uint32_t p = 2 + random.below(4U);
    const Sight sight = std::array{Sight::staged, Sight::direct, Sight::tcp}[i % 3];
    Crew crew(p, sight, outbox, slice);
    for (const Schedule& schedule : variant_schedules(p)) {
      const Layout layout = random_layout(schedule.contract.chunks, random);
      EXPECT_EQ(run_and_check(crew, schedule, layout, Aliasing::out_of_place), "")
          << schedule.name << " p=" << p;
    }
  }
}

TEST(Executor, ThrowsAtTheDeadline) {
  const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 2});
  Crew crew(2, Sight::staged, outbox, slice);
  const Layout layout = even_layout(ring.contract, 100);
  const Plan plan = compile({.program = ring.program(Rank{0}),
                             .contract = ring.contract,
                             .self = Rank{0},
                             .aliasing = Aliasing::out_of_place,
                             .layout = layout,
                             .element_bytes = 4});
  Counters counters{.peers = std::vector<PeerCounters>(2)};
  std::vector<std::byte> memory(4096);
  // Rank 1 does not take part.
  try {
    crew.all([&](Rank self, Executor& executor) {
      if (self != Rank{0}) return;
      executor.run(plan,
                   {.input = memory.data(),
                    .output = memory.data() + 1024,
                    .scratch = memory.data() + 2048,
                    .spare = memory.data() + 3072},
                   {.fold = fold(DType::u32, Op::sum), .element_bytes = 4}, 20ms, counters);
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::timed_out);
    EXPECT_NE(std::string(error.what()).find("no data arrives from rank 1"), std::string::npos)
        << error.what();
  }
}

/// Data that is copied goes in slices, so that sender and receiver copy at the same time.
TEST(Executor, SendsLongerDataAsAWholeIfItIsReadInPlace) {
  const Schedule mesh = algorithm("allgather/mesh").schedule({.ranks = 2});
  constexpr std::size_t block = 8192;
  const Layout layout = even_layout(mesh.contract, 2 * block / 4);
  for (const Sight sight : {Sight::direct, Sight::staged}) {
    Crew crew(2, sight, {.slots = 8, .slot_bytes = block}, slice);
    std::vector<std::byte> inputs(2 * block);
    std::vector<std::byte> outputs(4 * block);
    std::vector<Counters> counters(2, {.peers = std::vector<PeerCounters>(2)});
    crew.all([&](Rank self, Executor& executor) {
      const std::size_t rank = self;
      const Plan plan = compile({.program = mesh.program(self),
                                 .contract = mesh.contract,
                                 .self = self,
                                 .aliasing = Aliasing::out_of_place,
                                 .layout = layout,
                                 .element_bytes = 4});
      executor.run(
          plan,
          {.input = inputs.data() + rank * block, .output = outputs.data() + rank * 2 * block},
          {.fold = fold(DType::u32, Op::sum), .element_bytes = 4}, 20s, counters[rank]);
    });
    const PeerCounters& counted = counters[0].peers[1];
    EXPECT_EQ(counted.bytes_sent, block);
    EXPECT_EQ(counted.slices_sent, sight == Sight::direct ? 1 : block / slice);
  }
}

TEST(Executor, NamesTheReceiversThatHaveNotReadLentData) {
  const Schedule flat = algorithm("broadcast/flat").schedule({.ranks = 3});
  Crew crew(3, Sight::direct, outbox, slice);
  constexpr std::size_t bytes = 4096;
  const Layout layout = even_layout(flat.contract, bytes / 4);
  std::vector<std::byte> memory(3 * bytes);
  // Rank 2 does not take part.
  try {
    crew.all([&](Rank self, Executor& executor) {
      if (self == Rank{2}) return;
      const Plan plan = compile({.program = flat.program(self),
                                 .contract = flat.contract,
                                 .self = self,
                                 .aliasing = Aliasing::in_place,
                                 .layout = layout,
                                 .element_bytes = 4});
      ASSERT_FALSE(plan.order.empty());
      Counters counters{.peers = std::vector<PeerCounters>(3)};
      std::byte* const own = memory.data() + self * bytes;
      executor.run(plan, {.input = own, .output = own},
                   {.fold = fold(DType::u32, Op::sum), .element_bytes = 4}, 300ms, counters);
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::timed_out);
    EXPECT_NE(std::string(error.what()).find("sent data is not received by rank 2 ("),
              std::string::npos)
        << error.what();
  }
}

TEST(Plan, RejectsAlltoallInPlaceWithUnequalBlocks) {
  const Schedule mesh = algorithm("alltoall/mesh").schedule({.ranks = 2});
  const Layout uneven = Layout::counted({1, 2, 3, 4});
  const auto compiled = [&](Aliasing aliasing, const Layout& layout) {
    return compile({.program = mesh.program(Rank{0}),
                    .contract = mesh.contract,
                    .self = Rank{0},
                    .aliasing = aliasing,
                    .layout = layout,
                    .element_bytes = 4});
  };
  EXPECT_THROW((void)compiled(Aliasing::in_place, uneven), Error);
  EXPECT_NO_THROW((void)compiled(Aliasing::out_of_place, uneven));
  EXPECT_NO_THROW((void)compiled(Aliasing::in_place, Layout::equal(4, 3)));
}

TEST(Executor, RunsManyPlansInSequence) {
  const Schedule mesh = algorithm("allreduce/mesh").schedule({.ranks = 3});
  Crew crew(3, Sight::staged, outbox, slice);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(run_and_check(crew, mesh, even_layout(mesh.contract, static_cast<std::uint64_t>(i)),
                            Aliasing::out_of_place),
              "")
        << i;
  }
}

}  // namespace
}  // namespace tutti::test
