#include "sim/workload.hpp"

#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/network/generator.hpp>
#include <tutti/schedule/algorithm.hpp>

#include "support/errors.hpp"

namespace tutti {
namespace {

Workload workload_of(const Schedule& schedule) {
  const Network network = generate("star:" + std::to_string(schedule.contract.ranks));
  Routes routes(network);
  RouteTable table(network, routes, {});
  return {source_of(schedule), even_layout(schedule.contract, 1 << 20), table};
}

/// For each pair of ranks: the rounds of the receives, in order.
using Rounds = std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint32_t>>;

Rounds rounds_of_receives(const Schedule& schedule) {
  Rounds rounds;
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    for (const Step step : schedule.programs[r]) {
      if (step.kind == Step::Kind::send) continue;
      for (const Rank peer : step.peers) rounds[{peer, r}].push_back(step.round);
    }
  }
  return rounds;
}

void expect_all_to_meet(const Schedule& schedule) {
  const Workload workload = workload_of(schedule);
  Rounds rounds = rounds_of_receives(schedule);
  for (std::uint32_t r = 0; r < workload.ranks(); ++r) {
    for (const Workload::Passage passage : workload.outgoing(r)) {
      const Workload::Message& message = workload.messages[passage.message];
      ASSERT_EQ(message.from, r);
      ASSERT_EQ(workload.folds[message.fold].rank, message.to);
      auto& expected = rounds[{message.from, message.to}];
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(workload.folds[message.fold].round, expected.front());
      expected.pop_front();
    }
    for (const Workload::Passage passage : workload.incoming(r)) {
      ASSERT_EQ(workload.messages[passage.message].to, r);
    }
  }
  for (const auto& [pair, left] : rounds) EXPECT_TRUE(left.empty());
}

TEST(Workload, MatchesTheKthSendWithTheKthReceive) {
  for (const Algorithm& each : algorithms()) {
    for (const std::uint32_t p : {2U, 7U, 16U}) {
      SCOPED_TRACE(std::string(each.name) + " " + std::to_string(p));
      expect_all_to_meet(
          each.schedule({.ranks = p, .shape = each.needs_shape() ? squarest(p) : Shape{}}));
    }
  }
}

/// Large enough to be read by several threads.
TEST(Workload, IsTheSameWhenReadInParallel) {
  for (const char* const name : {"allreduce/ring", "alltoall/bruck"}) {
    const Schedule schedule = algorithm(name).schedule({.ranks = 300});
    expect_all_to_meet(schedule);
  }
}

TEST(Workload, IsNumberedByRoundThenSenderThenProgramOrder) {
  const Workload workload = workload_of(algorithm("allreduce/ring").schedule({.ranks = 300}));
  const auto place = [&](std::size_t i) {
    const Workload::Message& message = workload.messages[i];
    return std::tuple(message.round, message.from, message.slot);
  };
  for (std::size_t i = 1; i < workload.messages.size(); ++i) ASSERT_LT(place(i - 1), place(i));
  for (std::size_t i = 1; i < workload.folds.size(); ++i) {
    ASSERT_LE(workload.folds[i - 1].round, workload.folds[i].round);
  }
}

/// In a ring the result of each fold is sent by its rank in the next round, except in the last.
TEST(Workload, KnowsTheDependentsOfAFold) {
  const Workload workload = workload_of(algorithm("allgather/ring").schedule({.ranks = 400}));
  for (const Workload::Fold& fold : workload.folds) {
    const auto waiters = workload.waiters(fold);
    if (fold.round + 2 == 400) {
      ASSERT_TRUE(waiters.empty());
      continue;
    }
    ASSERT_EQ(waiters.size(), 1U);
    ASSERT_TRUE(waiters.front().is_message());
    const Workload::Message& next = workload.messages[waiters.front().id()];
    ASSERT_EQ(next.from, fold.rank);
    ASSERT_EQ(next.round, fold.round + 1);
  }
}

TEST(Workload, RejectsIndicesOutOfRange) {
  const auto refuse = [](const auto& spoil, ErrorCode code, const std::string& part) {
    Schedule schedule = algorithm("allgather/ring").schedule({.ranks = 2});
    spoil(schedule.programs[1]);
    test::expect_error([&] { (void)workload_of(schedule); }, code, part);
  };
  refuse([](Program& program) { program.send(0, Rank{2}, Chunk{0}); }, ErrorCode::invalid_argument,
         "names rank 2");
  refuse([](Program& program) { program.send(0, Rank{0}, Chunk{9}); }, ErrorCode::invalid_argument,
         "names chunk 9");
  refuse([](Program& program) { program.send(4'000'000'000, Rank{0}, Chunk{0}); },
         ErrorCode::unsupported, "round 4000000000");
  refuse([](Program& program) { program.send(0, Rank{0}, Chunk{0}); }, ErrorCode::invalid_argument,
         "do not match");
}

}  // namespace
}  // namespace tutti
