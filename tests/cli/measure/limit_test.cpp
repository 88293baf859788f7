#include "cli/measure/limit.hpp"

#include <gtest/gtest.h>

#include "cli/measure/row.hpp"

namespace tutti::test {
namespace {

using measure::Machine;

/// A machine with round figures.
Machine round_machine() {
  return {.cores = 2,
          .memory = {{.bytes = 1 << 10,
                      .copy = 1e12,
                      .out_of_place = {.once = 1e12, .everywhere = 5e11},
                      .in_place = {.once = 1e12, .everywhere = 5e11}},
                     {.bytes = 1 << 19,
                      .copy = 1e10,
                      .out_of_place = {.once = 1e9, .everywhere = 5e8},
                      .in_place = {.once = 2e9, .everywhere = 1e9}}},
          .flag = 1e-6,
          .note = 1e-7};
}

TEST(Limit, FollowsTheFormulasOfTheDocumentation) {
  Machine machine = round_machine();
  const auto limit = [&](Collective collective, measure::Manner manner = {}) {
    return measure::limit_seconds(machine, collective, 4, 1'000'000, manner);
  };
  EXPECT_NEAR(limit(Collective::allreduce), 2e-3 + 1e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::allreduce, {.in_place = true}), 1e-3 + 1e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::reduce_scatter), 1e-3 + 1e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::allgather), 3e-4 + 1e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::gather), 0.75e-4, 1e-12);
  EXPECT_NEAR(limit(Collective::gather, {.barrier = true}), 0.75e-4 + 1e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::barrier), 1e-6, 1e-12);
  machine.loopback = {.rate = 1e9, .latency = 1e-5};
  EXPECT_NEAR(limit(Collective::allreduce), 6e-3 + 1e-3, 1e-12);
  EXPECT_NEAR(limit(Collective::alltoall), 3e-3, 1e-12);
  EXPECT_NEAR(limit(Collective::barrier), 1e-5, 1e-12);
}

/// Calls of collectives with a root overlap: the root of a broadcast does not wait for an answer.
TEST(Limit, OverlappingCallsNeedNoRoundTrip) {
  Machine machine = round_machine();
  const auto limit = [&](Collective collective, bool barrier) {
    return measure::limit_seconds(machine, collective, 2, 8, {.barrier = barrier});
  };
  EXPECT_NEAR(limit(Collective::broadcast, false), 1e-7, 1e-10);
  EXPECT_NEAR(limit(Collective::broadcast, true), 1e-6, 1e-10);
  EXPECT_NEAR(limit(Collective::allreduce, false), 1e-6, 1e-10);
  machine.loopback = {.rate = 1e9, .latency = 1e-5};
  EXPECT_NEAR(limit(Collective::broadcast, false), 8e-9, 1e-12);
  EXPECT_NEAR(limit(Collective::broadcast, true), 1e-5, 1e-12);
}

/// The rates of less data are at least as good, so they are a bound. Those of more data are not.
TEST(Limit, UsesTheRatesOfTheNextSmallerSize) {
  const Machine machine = round_machine();
  EXPECT_EQ(machine.memory_at(8).bytes, 1U << 10U);
  EXPECT_EQ(machine.memory_at((1U << 19U) - 1).bytes, 1U << 10U);
  EXPECT_EQ(machine.memory_at(1U << 19U).bytes, 1U << 19U);
  EXPECT_EQ(machine.memory_at(1U << 30U).bytes, 1U << 19U);
}

TEST(Limit, MeasuredRatesDoNotGrowWithSize) {
  const Machine machine = measure::measure_machine(3, 1 << 20, true);
  ASSERT_GT(machine.memory.size(), 2U);
  for (std::size_t i = 0; i < machine.memory.size(); ++i) {
    const Machine::Memory& here = machine.memory[i];
    EXPECT_GT(here.out_of_place.everywhere, 0);
    EXPECT_LE(here.out_of_place.everywhere, here.in_place.everywhere);
    if (i == 0) continue;
    const Machine::Memory& less = machine.memory[i - 1];
    EXPECT_LT(less.bytes, here.bytes);
    EXPECT_GE(less.copy, here.copy);
    EXPECT_GE(less.out_of_place.once, here.out_of_place.once);
    EXPECT_GE(less.in_place.everywhere, here.in_place.everywhere);
  }
  EXPECT_GT(machine.flag, 0);
  EXPECT_GT(machine.note, 0);
  ASSERT_TRUE(machine.loopback.has_value());
  EXPECT_GT(machine.loopback->rate, 0);
  EXPECT_GT(machine.loopback->latency, 0);
}

TEST(Limit, OverlappingCallsAreComparedByTheirMean) {
  measure::Row row{.what = {.collective = Collective::allreduce},
                   .out_of_place = {.timing = {.median = 4, .mean = 8}}};
  EXPECT_FALSE(row.share_of_limit().has_value());
  row.limit = 2;
  EXPECT_DOUBLE_EQ(row.share_of_limit().value(), 0.5);
  row.what.collective = Collective::broadcast;
  EXPECT_DOUBLE_EQ(row.share_of_limit().value(), 0.25);
  row.out_of_place.timing.mean = 0;
  EXPECT_DOUBLE_EQ(row.share_of_limit().value(), 0.5);
}

}  // namespace
}  // namespace tutti::test
