#include <algorithm>

#include <gtest/gtest.h>

#include <tutti/schedule/algebra.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/verify.hpp>

#include "support/draft.hpp"
#include "support/errors.hpp"
#include "support/interpreter.hpp"
#include "support/problems.hpp"
#include "support/variant_schedules.hpp"

namespace tutti::test {
namespace {

using enum Collective;

std::string first_fault(const Schedule& schedule) {
  const Verification verdict = verify(schedule);
  return verdict.ok() ? "" : verdict.violations.front().message;
}

bool has_dual(Collective collective) {
  return collective != allreduce && collective != alltoall && collective != barrier;
}

/// The duals of all ranks' programs.
Schedule dual_of(const Schedule& schedule) {
  Schedule reversed{
      .name = "dual of " + schedule.name, .contract = schedule.contract, .programs = {}};
  reversed.contract.collective = dual(schedule.contract.collective);
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    reversed.programs.push_back(dual(schedule.programs[r], schedule.contract.collective, r));
  }
  return reversed;
}

/// Calls check(schedule) for each algorithm that has a dual, for each problem with up to `last_p`
/// ranks.
template <class Check>
void for_each_with_dual(std::uint32_t last_p, Check check) {
  for (const Algorithm& algorithm : algorithms()) {
    if (!has_dual(algorithm.collective)) continue;
    for (std::uint32_t p = 1; p <= last_p; ++p) {
      for (const Problem& problem : problems(algorithm, p)) {
        SCOPED_TRACE(std::string(algorithm.name) + " " + words(problem));
        check(algorithm.schedule(problem));
      }
    }
  }
}

TEST(Dual, ReversesStepsAndTheirOrder) {
  const Program down =
      program({receive(0, {0}, {0, 1}), send(1, {4, 2}, {0}), send(2, {3}, {1})}, 3);
  const Program up =
      program({fold(0, {3}, 0, {1}), fold(1, {2, 4}, 0, {0}), send(2, {0}, {0, 1})}, 3);
  EXPECT_EQ(dual(down, broadcast, Rank{1}), up);
}

TEST(Dual, PlacesTheOwnContributionByRank) {
  const Program down = program({send(0, {4, 0, 2}, {0})}, 1);
  EXPECT_EQ(dual(down, allgather, Rank{1}), program({fold(0, {0, 2, 4}, 1, {0})}, 1));
  EXPECT_EQ(dual(down, allgather, Rank{3}), program({fold(0, {0, 2, 4}, 2, {0})}, 1));
  EXPECT_EQ(dual(down, allgather, Rank{5}), program({fold(0, {0, 2, 4}, 3, {0})}, 1));
}

TEST(Dual, PlacesTheOwnContributionLastOnRequest) {
  const Program down = program({send(0, {4, 2}, {0})}, 1);
  EXPECT_EQ(dual(down, allgather, Rank{1}, Own::last), program({fold(0, {2, 4}, 2, {0})}, 1));
}

TEST(Dual, CopiesIfTheDualIsNotAReduction) {
  const Program up = program({fold(0, {2}, 0, {0}), send(1, {0}, {0})}, 2);
  const Program down = program({receive(0, {0}, {0}), send(1, {2}, {0})}, 2);
  EXPECT_EQ(dual(up, reduce, Rank{1}), down);
  EXPECT_EQ(dual(down, scatter, Rank{1}), program({receive(0, {2}, {0}), send(1, {0}, {0})}, 2));
}

TEST(Dual, RejectsCollectivesWithoutADual) {
  for (const Collective each : {allreduce, alltoall, barrier}) {
    expect_error([each] { (void)dual(Program(), each, Rank{0}); }, ErrorCode::unsupported,
                 "has no dual");
  }
}

/// Removes the order in which peers are served or folded.
Draft without_order(const Schedule& schedule) {
  Draft plain = draft(schedule);
  plain.name.clear();
  for (std::vector<DraftStep>& steps : plain.programs) {
    for (DraftStep& step : steps) {
      std::sort(step.peers.begin(), step.peers.end());
      if (step.own) step.own = 0;
    }
  }
  return plain;
}

/// True if every receive adds, or the collective is not a reduction. A receive that copies would
/// add in the dual of the dual.
bool never_mixes(const Schedule& schedule) {
  if (!is_reduction(schedule.contract.collective)) return true;
  for (const Program& program : schedule.programs) {
    for (const Step step : program) {
      if (step.kind == Step::Kind::receive && !step.own) return false;
    }
  }
  return true;
}

TEST(Dual, TwiceIsTheOriginalExceptForTheOrderOfPeers) {
  for_each_with_dual(9, [](const Schedule& schedule) {
    if (!never_mixes(schedule)) return;
    EXPECT_EQ(without_order(dual_of(dual_of(schedule))), without_order(schedule));
  });
}

/// True if no rank is sent a chunk that it already had. Otherwise its contribution would be added
/// twice in the dual.
bool never_repeats(const Schedule& schedule) {
  if (is_reduction(schedule.contract.collective)) return true;
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    std::vector<bool> had(schedule.contract.chunks, false);
    const ChunkSeries input = schedule.contract.input(r);
    for (std::uint64_t i = 0; i < input.count; ++i) had[input[i].index()] = true;
    for (const Step step : schedule.programs[r]) {
      for (const ChunkRange& range : step.chunks) {
        for (std::uint64_t i = 0; step.kind == Step::Kind::receive && i < range.count; ++i) {
          if (had[range.first.index() + i]) return false;
          had[range.first.index() + i] = true;
        }
      }
    }
  }
  return true;
}

TEST(Dual, EveryAlgorithmGivesTheDualCollective) {
  std::uint64_t proved = 0;
  for_each_with_dual(9, [&](const Schedule& schedule) {
    const Schedule reversed = dual_of(schedule);
    if (never_repeats(schedule)) {
      EXPECT_EQ(first_fault(reversed), "");
      ++proved;
    } else if (is_reduction(reversed.contract.collective)) {
      EXPECT_NE(first_fault(reversed), "");
    }
  });
  EXPECT_GT(proved, 500);
}

TEST(Dual, RejectsLocalStepsAndVariants) {
  for (const Schedule& each : {carrying_ring(3), copying_chain(3, 0)}) {
    expect_error([&] { (void)dual(each.programs[1], each.contract.collective, Rank{1}); },
                 ErrorCode::unsupported, "cannot be run backwards");
  }
}

TEST(Then, AppendsTheRoundsOfTheSecond) {
  const Program first = program({send(0, {1}, {0}), receive(2, {1}, {0})}, 4);
  const Program second = program({send(1, {2}, {1})}, 3);
  EXPECT_EQ(then(first, second),
            program({send(0, {1}, {0}), receive(2, {1}, {0}), send(5, {2}, {1})}, 7));
  EXPECT_EQ(then(Program(), second), second);
  EXPECT_EQ(then(first, Program()), first);
}

/// Appends the programs of one schedule to those of another, for all ranks.
Schedule then_of(const Schedule& first, const Schedule& second, Collective collective) {
  Schedule both{
      .name = first.name + " then " + second.name, .contract = first.contract, .programs = {}};
  both.contract.collective = collective;
  both.contract.root = Rank{0};
  for (std::size_t r = 0; r < first.programs.size(); ++r) {
    both.programs.push_back(then(first.programs[r], second.programs[r]));
  }
  return both;
}

/// Composes every algorithm for `one` with every algorithm for `other` that has the same number of
/// chunks.
void expect_allreduce(Collective one, Collective other, const Problem& problem) {
  for (const Algorithm& a : algorithms(one)) {
    for (const Algorithm& b : algorithms(other)) {
      const auto shaped = [&](const Algorithm& each) {
        Problem whole = problem;
        if (each.needs_shape()) whole.shape = squarest(problem.ranks);
        return whole;
      };
      const Schedule first = a.schedule(shaped(a));
      const Schedule second = b.schedule(shaped(b));
      if (first.contract.chunks != second.contract.chunks) continue;
      const Schedule both = then_of(first, second, allreduce);
      EXPECT_EQ(first_fault(both), "") << both.name << " " << words(problem);
    }
  }
}

TEST(Then, AnyReduceAndAnyBroadcastMakeAnAllreduce) {
  for (std::uint32_t p = 1; p <= 7; ++p) {
    for (std::uint32_t root = 0; root < p; ++root) {
      expect_allreduce(reduce, broadcast, {.ranks = p, .root = root, .shape = {}});
    }
  }
}

TEST(Then, AnyReduceScatterAndAnyAllgatherMakeAnAllreduce) {
  for (std::uint32_t p = 1; p <= 9; ++p) expect_allreduce(reduce_scatter, allgather, {.ranks = p});
}

TEST(Beside, MergesRoundsWithTheFirstProgramFirst) {
  const Program one = program({send(0, {1}, {0}), receive(1, {1}, {0}), send(3, {1}, {0})}, 4);
  const Program other = program({send(1, {2}, {1}), receive(1, {2}, {1}), send(2, {2}, {1})}, 3);
  EXPECT_EQ(beside(one, other),
            program({send(0, {1}, {0}), receive(1, {1}, {0}), send(1, {2}, {1}),
                     receive(1, {2}, {1}), send(2, {2}, {1}), send(3, {1}, {0})},
                    4));
  EXPECT_EQ(beside(one, Program()), one);
  EXPECT_EQ(beside(Program(), other), other);
}

TEST(Beside, RunsTwoAllreducesOnDifferentChunks) {
  constexpr std::uint32_t p = 6;
  for (const Algorithm& a : algorithms(allreduce)) {
    for (const Algorithm& b : algorithms(allreduce)) {
      if (a.needs_shape() || b.needs_shape()) continue;
      const Problem problem{.ranks = p};
      const std::uint64_t m = a.chunk_count(problem);
      const std::uint64_t n = b.chunk_count(problem);
      Schedule both{.name = std::string(a.name) + " beside " + std::string(b.name),
                    .contract = {.collective = allreduce, .ranks = p, .root = {}, .chunks = m + n},
                    .programs = {}};
      for (std::uint32_t r = 0; r < p; ++r) {
        const Program behind =
            embed(b.program(problem, r), {.modulus = p}, {.first = m, .modulus = m + n});
        both.programs.push_back(beside(a.program(problem, r), behind));
      }
      EXPECT_EQ(first_fault(both), "") << both.name;
    }
  }
}

TEST(Beside, PutsLocalStepsAfterAllMessages) {
  const std::uint32_t p = 4;
  const Schedule half = gathering_mesh(p);
  Schedule both{.name = "both",
                .contract = {.collective = Collective::allreduce, .ranks = p, .chunks = 2 * p},
                .programs = {}};
  for (std::uint32_t r = 0; r < p; ++r) {
    const ChunkMap upper{.first = p, .stride = 1, .modulus = 2 * p};
    const RankMap same{.modulus = p};
    const Program other = embed(half.programs[r], same, upper);
    both.programs.push_back(beside(half.programs[r], other));
  }
  const Verification verdict = verify(both);
  EXPECT_TRUE(verdict.ok()) << verdict.violations.front().message;
}

TEST(Then, KeepsVariants) {
  const std::uint32_t p = 4;
  const Schedule scattered = carrying_ring(p);
  Schedule whole{.name = "whole",
                 .contract = {.collective = Collective::allreduce, .ranks = p, .chunks = p},
                 .programs = {}};
  for (std::uint32_t r = 0; r < p; ++r) {
    whole.programs.push_back(
        then(scattered.programs[r], algorithm("allgather/ring").program({.ranks = p}, r)));
  }
  const Verification verdict = verify(whole);
  EXPECT_TRUE(verdict.ok()) << verdict.violations.front().message;
}

TEST(Pipelined, StartsEachSegmentARoundLater) {
  const Program one = program({send(0, {1}, {0}), receive(2, {1}, {1})}, 3);
  EXPECT_EQ(pipelined(one, 1), one);
  EXPECT_EQ(pipelined(Program(), 5), Program());
  // Segment s of chunk i is chunk 2i + s.
  EXPECT_EQ(pipelined(one, 2), program({send(0, {1}, {0}), send(1, {1}, {1}), receive(2, {1}, {2}),
                                        receive(3, {1}, {3})},
                                       4));
}

TEST(Pipelined, KeepsAnAllreduceCorrect) {
  constexpr std::uint32_t p = 6;
  constexpr std::uint32_t segments = 3;
  for (const Algorithm& each : algorithms(allreduce)) {
    const Problem problem{.ranks = p, .shape = each.needs_shape() ? squarest(p) : Shape{}};
    Schedule whole = each.schedule(problem);
    whole.contract.chunks *= segments;
    for (Program& part : whole.programs) part = pipelined(part, segments);
    EXPECT_EQ(first_fault(whole), "") << each.name;
  }
}

TEST(Embed, MapsChunksToAnySets) {
  const Program one = program({send(0, {1}, {0}), receive(1, {1}, {1})}, 2);
  const ChunkSets sets = [](Chunk chunk, std::vector<ChunkRange>& into) {
    for (const std::uint64_t c : {4, 5, 9}) into.emplace_back(Chunk{c + 10 * chunk.index()});
  };
  const Program embedded = embed_sets(one, {.first = 2, .modulus = 4}, sets);
  ASSERT_EQ(embedded.size(), 2U);
  EXPECT_EQ(embedded[0].peers[0], Rank{3});
  ASSERT_EQ(embedded[0].chunks.size(), 2U);
  EXPECT_EQ(embedded[0].chunks[0], ChunkRange(Chunk{4}, 2));
  EXPECT_EQ(embedded[0].chunks[1], ChunkRange(Chunk{9}));
  EXPECT_EQ(embedded[1].chunks[0], ChunkRange(Chunk{14}, 2));
}

TEST(RankMap, WrapsAround) {
  const RankMap column{.first = 2, .stride = 4, .modulus = 12};
  EXPECT_EQ(column(Rank{0}), Rank{2});
  EXPECT_EQ(column(Rank{2}), Rank{10});
  const RankMap mirror{.first = 5, .stride = -1, .modulus = 6};
  for (std::uint32_t r = 0; r < 6; ++r) EXPECT_EQ(mirror(r), 5 - r);
  const RankMap turned{.first = 4, .stride = 1, .modulus = 6};
  EXPECT_EQ(turned(Rank{3}), Rank{1});
}

std::vector<ChunkRange> mapped(const ChunkMap& map, ChunkRange range) {
  std::vector<ChunkRange> into;
  map.map(range, into);
  return into;
}

TEST(ChunkMap, JoinsAdjacentRanges) {
  using Ranges = std::vector<ChunkRange>;
  EXPECT_EQ(mapped({.modulus = 9}, {Chunk{2}, 4}), (Ranges{{Chunk{2}, 4}}));
  EXPECT_EQ(mapped({.first = 5, .modulus = 6}, {Chunk{0}, 3}), (Ranges{Chunk{5}, {Chunk{0}, 2}}));
  EXPECT_EQ(mapped({.first = 2, .stride = 2, .modulus = 12, .width = 2}, {Chunk{0}, 3}),
            (Ranges{{Chunk{2}, 6}}));
  EXPECT_EQ(mapped({.stride = 4, .modulus = 12, .width = 2}, {Chunk{1}, 2}),
            (Ranges{{Chunk{4}, 2}, {Chunk{8}, 2}}));
  EXPECT_EQ(mapped({.first = 3, .stride = -1, .modulus = 4}, {Chunk{0}, 2}),
            (Ranges{Chunk{3}, Chunk{2}}));
}

TEST(ChunkMap, KeepsExistingRanges) {
  std::vector<ChunkRange> into{Chunk{4}};
  ChunkMap{.modulus = 9}.map(Chunk{5}, into);
  EXPECT_EQ(into, (std::vector<ChunkRange>{Chunk{4}, Chunk{5}}));
}

TEST(Embed, IdentityMapsChangeNothing) {
  for (const Algorithm& algorithm : algorithms()) {
    const Problem problem = small_problem(algorithm);
    const Schedule schedule = algorithm.schedule(problem);
    for (const Program& each : schedule.programs) {
      EXPECT_EQ(embed(each, {.modulus = problem.ranks}, {.modulus = schedule.contract.chunks}),
                each)
          << algorithm.name;
    }
  }
}

TEST(Embed, RenumbersTheRanksOfAnAllreduce) {
  constexpr std::uint32_t p = 7;
  const RankMap renumbered{.first = 3, .stride = -2, .modulus = p};
  for (const Algorithm& algorithm : algorithms(allreduce)) {
    if (algorithm.needs_shape()) continue;
    Schedule schedule = algorithm.schedule({.ranks = p});
    const Schedule before = schedule;
    for (std::uint32_t r = 0; r < p; ++r) {
      schedule.programs[renumbered(r)] =
          embed(before.programs[r], renumbered, {.modulus = before.contract.chunks});
    }
    EXPECT_EQ(first_fault(schedule), "") << algorithm.name;
  }
}

/// Ranks in a grid with 2 rows of 3; 6 chunks.
struct Grid {
  static constexpr std::uint32_t columns = 3;
  static constexpr std::uint32_t rows = 2;
  static constexpr std::uint32_t p = columns * rows;

  /// A ring in each row, with two chunks for each chunk of the ring.
  static Program along_row(std::uint32_t r) {
    return embed(algorithm("allreduce/ring").program({.ranks = columns}, r % columns),
                 {.first = r / columns * columns, .stride = 1, .modulus = p},
                 {.first = 0, .stride = 2, .modulus = 6, .width = 2});
  }

  /// A ring in each column, with three chunks for each chunk of the ring.
  static Program along_column(std::uint32_t r) {
    return embed(algorithm("allreduce/ring").program({.ranks = rows}, r / columns),
                 {.first = r % columns, .stride = columns, .modulus = p},
                 {.first = 0, .stride = 3, .modulus = 6, .width = 3});
  }

  static Schedule of(Program (*part)(std::uint32_t)) {
    Schedule schedule{.name = "grid",
                      .contract = {.collective = allreduce, .ranks = p, .root = {}, .chunks = 6},
                      .programs = {}};
    for (std::uint32_t r = 0; r < p; ++r) schedule.programs.push_back(part(r));
    return schedule;
  }
};

TEST(Embed, ReducesEachRowOfAGrid) {
  const Schedule rings = Grid::of(Grid::along_row);
  Random random(1);
  const Holdings inputs = random_inputs(rings.contract, Layout::equal(6, 1), random);
  const Outcome outcome = interpret(rings, inputs);
  ASSERT_EQ(outcome.fault, Outcome::Fault::none) << outcome.where;
  for (std::size_t r = 0; r < Grid::p; ++r) {
    const std::size_t first = r / Grid::columns * Grid::columns;
    for (std::size_t c = 0; c < 6; ++c) {
      const std::int64_t sum =
          inputs[first][c]->front() + inputs[first + 1][c]->front() + inputs[first + 2][c]->front();
      EXPECT_EQ(outcome.holdings[r][c]->front(), sum) << "rank " << r << " chunk " << c;
    }
  }
}

TEST(Embed, RowsThenColumnsMakeAnAllreduce) {
  const Schedule both =
      Grid::of([](std::uint32_t r) { return then(Grid::along_row(r), Grid::along_column(r)); });
  EXPECT_EQ(first_fault(both), "");
  const Schedule rows_only = Grid::of(Grid::along_row);
  EXPECT_NE(first_fault(rows_only), "");
}

}  // namespace
}  // namespace tutti::test
