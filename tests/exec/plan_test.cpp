#include "exec/plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>

#include "support/problems.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t element_bytes = 4;
constexpr std::uint64_t segment = 16;

Plan plan_of(const Schedule& schedule, Rank self, std::uint64_t count,
             Aliasing aliasing = Aliasing::in_place) {
  return compile({.program = schedule.program(self),
                  .contract = schedule.contract,
                  .self = self,
                  .aliasing = aliasing,
                  .layout = even_layout(schedule.contract, count),
                  .element_bytes = element_bytes,
                  .segment = segment});
}

/// A message or a segment of one, as one end of it sees it.
struct Seen {
  std::uint32_t time;
  std::uint32_t round;
  std::size_t bytes;

  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> messages(const Plan& plan, Step::Kind kind, Rank peer) {
  std::vector<Seen> found;
  for (const Plan::Operation& each : plan.operations) {
    for (const Plan::Peer& other : each.peers.of(plan.peers)) {
      if (each.kind != kind || other.rank != peer) continue;
      EXPECT_EQ(other.turn, found.size());
      found.push_back({.time = each.time, .round = each.round, .bytes = each.bytes});
    }
  }
  return found;
}

TEST(Segments, BothEndsOfAMessageSeeThemInTheSameOrder) {
  constexpr std::uint32_t p = 6;
  for (const Algorithm& algorithm : algorithms()) {
    const Schedule schedule = algorithm.schedule(problems(algorithm, p).back());
    std::vector<Plan> plans;
    for (std::uint32_t r = 0; r < p; ++r) plans.push_back(plan_of(schedule, r, 1001 * p));
    for (std::uint32_t a = 0; a < p; ++a) {
      for (std::uint32_t b = 0; b < p; ++b) {
        EXPECT_EQ(messages(plans[a], Step::Kind::send, b),
                  messages(plans[b], Step::Kind::receive, a))
            << algorithm.name << " from " << a << " to " << b;
      }
    }
  }
}

TEST(Segments, AreNoLongerThanAsked) {
  const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 3});
  const Plan plan = plan_of(ring, Rank{1}, 1000);
  std::size_t begun = 0;
  for (const Plan::Operation& each : plan.operations) {
    EXPECT_LE(each.bytes, segment * element_bytes);
    begun += each.begins_message ? 1 : 0;
  }
  EXPECT_EQ(begun, ring.program(Rank{1}).size());
}

TEST(Segments, OfAFoldAreForwardedByOneSendEach) {
  const Schedule two_shot = algorithm("allreduce/mesh_two_shot").schedule({.ranks = 2});
  const Plan plan = plan_of(two_shot, Rank{0}, 320);
  std::size_t folds = 0;
  for (const Plan::Operation& each : plan.operations) {
    if (each.kind != Step::Kind::receive || each.round != 0) continue;
    ++folds;
    ASSERT_TRUE(each.forward);
    const Plan::Operation& forward = plan.operations[*each.forward];
    EXPECT_EQ(forward.bytes, each.bytes);
    EXPECT_GT(forward.time, each.time);
  }
  EXPECT_EQ(folds, 10U);
}

Plan short_plan(const Schedule& schedule, Aliasing aliasing, std::uint64_t count) {
  return compile({.program = schedule.program(Rank{0}),
                  .contract = schedule.contract,
                  .self = Rank{0},
                  .aliasing = aliasing,
                  .layout = even_layout(schedule.contract, count),
                  .element_bytes = element_bytes});
}

TEST(PlanOrder, HasTheSendsOfARoundBeforeItsReceives) {
  const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 4});
  const Plan plan = short_plan(ring, Aliasing::in_place, 4);
  ASSERT_EQ(plan.order.size(), plan.operations.size());
  for (std::size_t i = 1; i < plan.order.size(); ++i) {
    const Plan::Operation& before = plan.operations[plan.order[i - 1].operation];
    const Plan::Operation& after = plan.operations[plan.order[i].operation];
    EXPECT_LE(before.round, after.round);
    if (before.round != after.round) continue;
    EXPECT_FALSE(before.kind == Step::Kind::receive && after.kind == Step::Kind::send);
  }
}

TEST(PlanOrder, SaysWhatOverwritesSentData) {
  const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 2});
  const auto overwriting = [](const Plan& plan) {
    return std::count_if(plan.order.begin(), plan.order.end(),
                         [](const auto& step) { return step.overwrites_sent; });
  };
  // The second round receives the sum of the block that was sent in the first.
  EXPECT_EQ(overwriting(short_plan(ring, Aliasing::in_place, 2)), 1);
  EXPECT_EQ(overwriting(short_plan(ring, Aliasing::out_of_place, 2)), 0);
}

TEST(PlanOrder, IsForShortMessagesOnly) {
  const Schedule mesh = algorithm("allreduce/mesh").schedule({.ranks = 2});
  constexpr std::uint64_t longest = PlanSize::usual_in_order_to / 4;
  EXPECT_FALSE(short_plan(mesh, Aliasing::in_place, longest).order.empty());
  EXPECT_TRUE(short_plan(mesh, Aliasing::in_place, longest + 1).order.empty());
}

TEST(PlanOrder, IsNotForPipelines) {
  const Schedule mesh = algorithm("allreduce/mesh_two_shot").schedule({.ranks = 2});
  const auto is_ordered = [&](std::uint64_t count, std::uint64_t segment) {
    return !compile({.program = mesh.program(Rank{0}),
                     .contract = mesh.contract,
                     .self = Rank{0},
                     .aliasing = Aliasing::in_place,
                     .layout = even_layout(mesh.contract, count),
                     .element_bytes = 4,
                     .segment = segment})
                .order.empty();
  };
  EXPECT_TRUE(is_ordered(16384, 0));
  EXPECT_FALSE(is_ordered(16384, 2048));
}

/// The port remembers the last window that a peer has exposed, so it must be the one of the segment
/// that is being computed.
TEST(Exposures, GoWithASendOfTheSameSegment) {
  constexpr std::uint32_t segments = 10;
  for (const std::uint32_t p : {2U, 3U}) {
    const Schedule two_shot = algorithm("allreduce/mesh_two_shot").schedule({.ranks = p});
    for (const Aliasing aliasing : {Aliasing::in_place, Aliasing::out_of_place}) {
      const Plan plan = plan_of(two_shot, Rank{1}, p * segments * segment, aliasing);
      EXPECT_EQ(plan.exposures.size(), (p - 1) * segments);
      for (const Plan::Operation& send : plan.operations) {
        if (!send.exposes) continue;
        const Plan::Exposure& exposure = plan.exposures[*send.exposes];
        EXPECT_EQ(send.segment, plan.operations[exposure.receive].segment);
        EXPECT_EQ(send.round, 0U);
      }
    }
  }
}

TEST(PlanOrder, MakesTheSendsOfARoundTogether) {
  const Schedule mesh = algorithm("allreduce/mesh_two_shot").schedule({.ranks = 4});
  const Plan plan = short_plan(mesh, Aliasing::out_of_place, 16);
  ASSERT_GE(plan.order.size(), 4U);
  EXPECT_EQ(plan.order[0].sends, 3U);
  EXPECT_EQ(plan.order[1].sends, 2U) << "the rest, if some were made before";
  EXPECT_EQ(plan.order[2].sends, 1U);
  EXPECT_EQ(plan.order[3].sends, 0U) << "a receive";
}

TEST(PlanOrder, NamesNoPeerTwiceAmongSendsThatAreMadeTogether) {
  for (const Algorithm* const each : every_algorithm()) {
    const Schedule schedule = each->schedule(problems(*each, 5).front());
    const Plan plan = short_plan(schedule, Aliasing::out_of_place, 40);
    for (std::size_t i = 0; i < plan.order.size(); ++i) {
      std::vector<std::uint32_t> named;
      for (std::size_t k = i; k < i + plan.order[i].sends; ++k) {
        const std::uint32_t id = plan.order[k].operation;
        ASSERT_EQ(plan.operations[id].kind, Step::Kind::send) << each->name;
        for (const Rank rank : plan.ranks_of(id)) named.push_back(rank);
      }
      std::sort(named.begin(), named.end());
      EXPECT_EQ(std::adjacent_find(named.begin(), named.end()), named.end()) << each->name;
    }
  }
}

}  // namespace
}  // namespace tutti::test
