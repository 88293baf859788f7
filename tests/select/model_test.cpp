#include "select/model.hpp"

#include <gtest/gtest.h>

#include <tutti/schedule/closed_form.hpp>

#include "support/random.hpp"

namespace tutti {
namespace {

TEST(Effort, CountsTheRing) {
  const Effort ring = effort(algorithm("allreduce/ring"), {.ranks = 4}, 4000, 2);
  EXPECT_EQ(ring.counts[Effort::calls], 1);
  EXPECT_EQ(ring.counts[Effort::rounds], 6);
  EXPECT_EQ(ring.counts[Effort::messages], 6);
  EXPECT_EQ(ring.counts[Effort::bytes], 6000);
  EXPECT_EQ(ring.counts[Effort::busiest_bytes], 12000);
  EXPECT_EQ(ring.counts[Effort::busiest_reduced], 3000);
  EXPECT_EQ(ring.counts[Effort::core_messages], 12);
  EXPECT_EQ(ring.counts[Effort::core_bytes], 12000);
  EXPECT_EQ(ring.counts[Effort::core_reduced], 6000);
}

TEST(Effort, DividesByAtMostTheNumberOfRanks) {
  const Effort few = effort(algorithm("allreduce/ring"), {.ranks = 4}, 4000, 64);
  EXPECT_EQ(few.counts[Effort::core_messages], 6);
}

TEST(Effort, IsKnownForEveryAlgorithmAndNumberOfRanks) {
  for (const Algorithm& each : algorithms()) {
    for (std::uint32_t ranks = 2; ranks <= 70; ++ranks) {
      const Problem problem{.ranks = ranks,
                            .shape = each.needs_shape() ? squarest(ranks) : Shape{}};
      if (!each.refusal(problem).empty()) continue;
      const Effort needed = effort(each, problem, 1001, 2);
      EXPECT_GT(needed.counts[Effort::rounds], 0) << each.name << ' ' << ranks;
      for (const double count : needed.counts) EXPECT_GE(count, 0) << each.name << ' ' << ranks;
    }
  }
}

/// Without a closed form the effort is counted from the schedule, with the same result.
TEST(Effort, IsCountedWithoutAClosedForm) {
  for (const std::uint32_t ranks : {2U, 5U, 8U}) {
    for (const Algorithm& each : algorithms()) {
      const ClosedForm* const form = find_closed_form(each.name);
      if (each.needs_shape() || form == nullptr) continue;
      Algorithm nameless = each;
      nameless.name = "allreduce/of_nobody";
      const std::uint64_t bytes = 1680;  // Divisible by all of these numbers of chunks.
      const Effort counted = effort(nameless, {.ranks = ranks}, bytes, 2);
      const Effort known = effort(each, {.ranks = ranks}, bytes, 2);
      for (std::size_t i = 0; i < Effort::kinds; ++i) {
        const bool on_path = i == Effort::messages || i == Effort::bytes;
        if (on_path &&
            !form->time(each.completed({.ranks = ranks}), bytes, {.alpha = 1}, 0, Ports::one)) {
          continue;  // There is no formula for this number of ranks.
        }
        EXPECT_NEAR(counted.counts[i], known.counts[i], 1e-6 * known.counts[i])
            << each.name << ", " << ranks << " ranks: " << Effort::names[i];
      }
    }
  }
}

TEST(Effort, IsCountedForManyRanks) {
  Algorithm nameless = algorithm("allreduce/recursive_doubling");
  nameless.name = "allreduce/of_nobody";
  const Effort counted = effort(nameless, {.ranks = 512}, 4096, 512);
  EXPECT_EQ(counted.counts[Effort::messages], 9);
  EXPECT_EQ(counted.counts[Effort::bytes], 9 * 4096);
}

/// Times computed from given rates.
std::vector<Observation> observe(const std::array<double, Effort::kinds>& rates, double noise) {
  test::Random random(7);
  std::vector<Observation> observations;
  for (const std::uint32_t ranks : {2U, 4U, 8U}) {
    for (const Algorithm& each : algorithms(Collective::allreduce)) {
      if (each.needs_shape()) continue;
      for (std::uint64_t bytes = 8; bytes <= 1 << 24; bytes *= 8) {
        Observation one{.effort = effort(each, {.ranks = ranks}, bytes, 2), .bytes = bytes};
        for (std::size_t i = 0; i < Effort::kinds; ++i) {
          one.seconds += rates[i] * one.effort.counts[i];
        }
        one.seconds *=
            1 + noise * (static_cast<double>(random.below(std::uint32_t{2001})) / 1000.0 - 1);
        observations.push_back(one);
      }
    }
  }
  return observations;
}

TEST(Model, RecoversTheRates) {
  const std::array<double, Effort::kinds> rates{1e-7, 3e-7, 5e-8, 2e-11, 3e-11, 4e-11, 0, 0, 0};
  const std::vector<Observation> seen = observe(rates, 0);
  const Model model = fit(seen);
  for (const Observation& each : seen) {
    EXPECT_NEAR(model.seconds(each.effort, each.bytes) / each.seconds, 1, 0.02) << each.bytes;
  }
}

TEST(Model, ToleratesNoise) {
  const std::array<double, Effort::kinds> rates{1e-7, 3e-7, 5e-8, 0, 0, 0, 1e-7, 1e-10, 4e-11};
  const Model model = fit(observe(rates, 0.2));
  for (const Observation& each : observe(rates, 0)) {
    EXPECT_NEAR(model.seconds(each.effort, each.bytes) / each.seconds, 1, 0.2) << each.bytes;
  }
}

TEST(Model, HasNoNegativeRates) {
  for (const Rates& each : fit(observe({0, 1e-7, 0, 1e-10, 0, 0, 0, 0, 0}, 0.9)).rates) {
    for (const double rate : each.seconds) EXPECT_GE(rate, 0);
  }
}

TEST(Model, FitsFewObservations) {
  std::vector<Observation> seen = observe({1e-7, 1e-7, 0, 1e-10, 0, 0, 0, 0, 0}, 0);
  seen.resize(3);
  const Model model = fit(seen);
  ASSERT_EQ(model.rates.size(), 1U);
  EXPECT_GT(model.seconds(seen[0].effort, 8), 0);
}

}  // namespace
}  // namespace tutti
