#include "api/call/blueprint_cache.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

const Method ring(algorithm("allreduce/ring"));

TEST(BlueprintCache, MakesABlueprintOncePerProblemAndAliasing) {
  BlueprintCache cache;
  const auto first = cache.get(ring, {.ranks = 4}, Rank{1}, Aliasing::out_of_place);
  EXPECT_EQ(first->program.size(), ring.program({.ranks = 4}, Rank{1}).size());
  EXPECT_EQ(cache.get(ring, {.ranks = 4}, Rank{1}, Aliasing::out_of_place), first);
  EXPECT_NE(cache.get(ring, {.ranks = 4}, Rank{1}, Aliasing::in_place), first);
  EXPECT_NE(cache.get(ring, {.ranks = 5}, Rank{1}, Aliasing::out_of_place), first);
  const Method mesh(algorithm("allreduce/mesh"));
  EXPECT_NE(cache.get(mesh, {.ranks = 4}, Rank{1}, Aliasing::out_of_place), first);
  EXPECT_EQ(cache.get(ring, {.ranks = 4}, Rank{1}, Aliasing::out_of_place), first);
}

TEST(BlueprintCache, EvictsTheLeastRecentlyUsed) {
  BlueprintCache cache;
  const auto get = [&](std::uint32_t ranks) {
    return cache.get(ring, {.ranks = ranks}, Rank{0}, Aliasing::out_of_place);
  };
  const auto two = get(2);
  const auto three = get(3);
  for (std::uint32_t p = 4; p < 2 + BlueprintCache::most_entries; ++p) (void)get(p);
  EXPECT_EQ(get(2), two);  // Now the most recently used.
  (void)get(100);
  EXPECT_EQ(get(2), two);
  EXPECT_NE(get(3), three);
}

}  // namespace
}  // namespace tutti
