#include <algorithm>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

TEST(Build, EachRankBuildsItsProgramAlone) {
  for (const Algorithm& algorithm : algorithms()) {
    for (std::uint32_t p = 1; p <= 13; ++p) {
      for (const Problem& problem : problems(algorithm, p)) {
        const Schedule schedule = algorithm.schedule(problem);
        ASSERT_EQ(schedule.programs.size(), p);
        EXPECT_EQ(schedule.name, algorithm.name);
        EXPECT_EQ(schedule.contract, algorithm.contract(problem));
        for (std::uint32_t r = 0; r < p; ++r) {
          EXPECT_EQ(algorithm.program(problem, r), schedule.programs[r])
              << algorithm.name << " " << words(problem) << " rank " << r;
        }
      }
    }
  }
}

TEST(Build, RefusesSchedulesThatWouldTakeMinutes) {
  for (const std::uint32_t p : {20'000U, 1'000'000U}) {
    expect_error([&] { (void)algorithm("allreduce/ring").schedule({.ranks = p}); },
                 ErrorCode::unsupported, "use fewer ranks");
  }
  expect_error([] { (void)algorithm("alltoall/mesh").schedule({.ranks = 20'000}); },
               ErrorCode::unsupported,
               "alltoall/mesh on 20,000 ranks has about 800 million steps, which take 36 GB and "
               "80 s to build: use fewer ranks");
  // Many steps of one rank are not many steps of all.
  for (const char* const name :
       {"broadcast/flat", "reduce/binomial", "allreduce/halving_doubling"}) {
    EXPECT_EQ(algorithm(name).schedule({.ranks = 20'000}).programs.size(), 20'000U) << name;
  }
}

TEST(Build, AllRanksAgreeOnTheNumberOfRounds) {
  for (const Algorithm& algorithm : algorithms()) {
    for (std::uint32_t p = 1; p <= 13; ++p) {
      for (const Problem& problem : problems(algorithm, p)) {
        const Schedule schedule = algorithm.schedule(problem);
        for (const Program& program : schedule.programs) {
          EXPECT_EQ(program.rounds(), schedule.rounds()) << algorithm.name << " " << words(problem);
        }
      }
    }
  }
}

/// An empty round would be counted and drawn without reason.
TEST(Build, NoRoundIsEmpty) {
  for (const Algorithm& algorithm : algorithms()) {
    for (std::uint32_t p = 1; p <= 13; ++p) {
      for (const Problem& problem : problems(algorithm, p)) {
        const Schedule schedule = algorithm.schedule(problem);
        std::vector<bool> busy(schedule.rounds(), false);
        for (const Program& program : schedule.programs) {
          for (const Step step : program) busy[step.round] = true;
        }
        EXPECT_EQ(std::count(busy.begin(), busy.end(), false), 0)
            << algorithm.name << " " << words(problem);
      }
    }
  }
}

TEST(Build, SingleRankHasEmptyProgram) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Problem& problem : problems(algorithm, 1)) {
      const Schedule schedule = algorithm.schedule(problem);
      EXPECT_TRUE(schedule.programs[0].empty()) << algorithm.name;
      EXPECT_EQ(schedule.rounds(), 0) << algorithm.name;
    }
  }
}

/// The length of a program: its steps, their peers and their ranges of chunks.
struct Length {
  std::size_t steps = 0;
  std::size_t peers = 0;
  std::size_t ranges = 0;
};

Length length(const Program& program) {
  Length found;
  for (const Step step : program) {
    ++found.steps;
    found.peers += step.peers.size();
    found.ranges += step.chunks.size();
  }
  return found;
}

/// Upper bounds on the steps, peers and ranges of a rank among 65,536.
struct Limit {
  std::string_view name;
  Length most;
};

class LargeGroup : public testing::TestWithParam<Limit> {};

TEST_P(LargeGroup, ProgramLengthIsBounded) {
  constexpr std::uint32_t p = 65536;
  const Algorithm& algorithm = tutti::algorithm(GetParam().name);
  const Problem problem{
      .ranks = p, .root = {}, .shape = algorithm.needs_shape() ? Shape{{256, 256}} : Shape{}};
  for (const std::uint32_t r : {0U, 1U, 2U, 12345U, p / 2 - 1, p / 2, p - 1}) {
    const Length found = length(algorithm.program(problem, r));
    EXPECT_LE(found.steps, GetParam().most.steps) << "rank " << r;
    EXPECT_LE(found.peers, GetParam().most.peers) << "rank " << r;
    EXPECT_LE(found.ranges, GetParam().most.ranges) << "rank " << r;
  }
}

constexpr std::size_t others = 65535;

INSTANTIATE_TEST_SUITE_P(
    Table, LargeGroup,
    testing::Values(
        Limit{"broadcast/flat", {1, others, 1}}, Limit{"broadcast/binomial", {17, 17, 17}},
        Limit{"broadcast/binary_tree", {2, 3, 2}}, Limit{"broadcast/chain", {2, 2, 2}},
        Limit{"broadcast/double_tree", {4, 6, 4}}, Limit{"scatter/binomial", {17, 17, 17}},
        Limit{"gather/binomial", {17, 17, 17}}, Limit{"reduce/binomial", {17, 17, 17}},
        Limit{"reduce/double_tree", {4, 6, 4}}, Limit{"allgather/recursive_doubling", {32, 32, 32}},
        Limit{"allgather/bruck", {32, 32, 64}}, Limit{"allgather/gather_broadcast", {34, 34, 34}},
        Limit{"allgather/ring", {2 * others, 2 * others, 2 * others}},
        Limit{"allgather/mesh", {others + 1, 2 * others, others + 1}},
        Limit{"reduce_scatter/ring", {2 * others, 2 * others, 2 * others}},
        Limit{"reduce_scatter/recursive_halving", {32, 32, 32}},
        Limit{"reduce_scatter/reduce_then_scatter", {34, 34, 34}},
        Limit{"allreduce/mesh", {2, 2 * others, 2}},
        Limit{"allreduce/recursive_doubling", {32, 32, 32}},
        Limit{"allreduce/halving_doubling", {64, 64, 64}},
        Limit{"allreduce/double_tree", {8, 12, 8}},
        Limit{"allreduce/ring_ring", {2040, 2040, 2040}},
        Limit{"allreduce/ring_tree", {1054, 1054, 1054}},
        Limit{"allreduce/torus", {8160, 8160, 8160}}, Limit{"broadcast/knomial", {9, 25, 9}},
        Limit{"scatter/knomial", {25, 25, 25}},
        Limit{"allgather/recursive_multiplying", {32, 48, 32}},
        Limit{"allgather/sparbit", {32, 32, 2 * others}},
        Limit{"allgather/pat", {2 * 8194, 2 * 8194, 2 * others}},
        Limit{"allgather/neighbour_exchange", {65536, 65536, 65536}},
        Limit{"allgather/mesh_ring", {256 * 257, 2 * 256 * 257, 256 * 257}},
        Limit{"allreduce/recursive_multiplying", {16, 48, 16}},
        Limit{"allreduce/swing", {64, 64, 4 * others}},
        Limit{"allreduce/swing_torus", {256, 256, 16 * others}},
        Limit{"alltoall/pairwise", {2 * others, 2 * others, 2 * others}},
        Limit{"alltoall/bruck", {32, 32, std::size_t{16} * 65536}},
        Limit{"barrier/dissemination", {32, 32, 32}}, Limit{"barrier/binomial", {34, 34, 34}}),
    [](const testing::TestParamInfo<Limit>& parameter) {
      return test_name(tutti::algorithm(parameter.param.name));
    });

}  // namespace
}  // namespace tutti::test
