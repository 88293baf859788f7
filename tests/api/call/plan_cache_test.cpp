#include "api/call/plan_cache.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

Call call_of(std::uint64_t count) { return {.collective = Collective::allreduce, .count = count}; }

TEST(PlanCache, EvictsTheLeastRecentlyUsedEntryAlone) {
  PlanCache plans;
  for (std::uint64_t count = 1; count <= PlanCache::most_entries; ++count) {
    plans.add(call_of(count), {.input = count, .output = count});
  }
  ASSERT_NE(plans.find(call_of(1)), nullptr);  // Now the most recently used.
  plans.add(call_of(0), {});
  EXPECT_EQ(plans.find(call_of(2)), nullptr);
  for (std::uint64_t count = 3; count <= PlanCache::most_entries; ++count) {
    PlanCache::Entry* const found = plans.find(call_of(count));
    ASSERT_NE(found, nullptr) << count;
    EXPECT_EQ(found->extent().input, count);
  }
  EXPECT_NE(plans.find(call_of(1)), nullptr);
  EXPECT_NE(plans.find(call_of(0)), nullptr);
}

TEST(PlanCache, EntryHoldsAPlanForEachAliasing) {
  PlanCache plans;
  PlanCache::Entry& entry = plans.add(call_of(7), {});
  EXPECT_EQ(entry.compiled(Aliasing::in_place), nullptr);
  entry.compiled(Aliasing::in_place) = std::make_shared<const CompiledCall>();
  EXPECT_EQ(plans.find(call_of(7))->compiled(Aliasing::out_of_place), nullptr);
  EXPECT_NE(plans.find(call_of(7))->compiled(Aliasing::in_place), nullptr);
}

}  // namespace
}  // namespace tutti
