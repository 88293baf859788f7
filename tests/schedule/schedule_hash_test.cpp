#include <set>

#include <gtest/gtest.h>

#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "support/damage.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

TEST(ContentHash, IsTheSameOnEveryMachine) {
  // A change of these values breaks profiles, and jobs with different versions of tutti.
  EXPECT_EQ(hash_text(content_hash(algorithm("allreduce/ring").schedule({.ranks = 4}))),
            "df7621131b81a822");
  EXPECT_EQ(
      hash_text(content_hash(algorithm("reduce/flat").schedule({.ranks = 3, .root = Rank{1}}))),
      "7b7901b784072b10");
}

TEST(ContentHash, CoversContentButNotTheName) {
  Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 4});
  const std::uint64_t hash = content_hash(ring);
  EXPECT_EQ(content_hash(schedule_from_json(to_json(ring))), hash);
  ring.name = "mine";
  EXPECT_EQ(content_hash(ring), hash);
}

TEST(ContentHash, DiffersBetweenAlgorithms) {
  std::set<std::uint64_t> seen;
  std::set<std::string> texts;
  for (const Algorithm& algorithm : algorithms()) {
    for (const std::uint32_t p : {2U, 3U, 4U, 8U}) {
      for (const Problem& problem : problems(algorithm, p)) {
        Schedule schedule = algorithm.schedule(problem);
        schedule.name.clear();
        seen.insert(content_hash(schedule));
        texts.insert(to_json(schedule));
      }
    }
  }
  EXPECT_EQ(seen.size(), texts.size());
  EXPECT_FALSE(seen.contains(0));
}

TEST(ContentHash, DetectsDamage) {
  Random random(3);
  for (const Algorithm& algorithm : algorithms()) {
    const Schedule intact = algorithm.schedule(small_problem(algorithm));
    for (const Damage& damage : damages()) {
      Draft spoilt = draft(intact);
      if (!damage.apply(spoilt, random) || schedule(spoilt) == intact) continue;
      EXPECT_NE(content_hash(schedule(spoilt)), content_hash(intact))
          << algorithm.name << ", " << damage.name;
    }
  }
}

TEST(ContentHash, JoinsAdjacentRanges) {
  const auto with = [](const std::vector<ChunkRange>& chunks) {
    Schedule schedule{.name = "s",
                      .contract = {.collective = Collective::broadcast, .ranks = 2, .chunks = 3},
                      .programs = {Program(1), Program(1)}};
    schedule.programs[0].send(0, Rank{1}, chunks);
    schedule.programs[1].receive(0, Rank{0}, ChunkRange(Chunk{0}, 3));
    return content_hash(schedule);
  };
  EXPECT_EQ(with({{Chunk{0}, 3}}), with({{Chunk{0}, 1}, {Chunk{1}, 2}}));
  EXPECT_NE(with({{Chunk{0}, 3}}), with({{Chunk{1}, 2}, {Chunk{0}, 1}}));
}

TEST(ContentHash, TextHasSixteenDigits) {
  EXPECT_EQ(hash_text(0x1F), "000000000000001f");
  EXPECT_EQ(hash_text(~std::uint64_t{0}), "ffffffffffffffff");
}

}  // namespace
}  // namespace tutti::test
