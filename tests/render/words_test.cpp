#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/bounds.hpp>
#include <tutti/schedule/trace.hpp>

#include "render/boxes.hpp"
#include "render/definition.hpp"
#include "render/numbers.hpp"
#include "render/reason.hpp"
#include "support/errors.hpp"

namespace tutti::test {
namespace {

using render::Boxes;
using render::Combine;
using render::Numbers;

TEST(Reasons, ExistForEveryAlgorithm) {
  for (const Algorithm& each : algorithms()) {
    const render::Reason* const reason = render::find_reason(each.name);
    ASSERT_NE(reason, nullptr) << each.name;
    EXPECT_FALSE(reason->idea.empty() || reason->why.empty() || reason->bound.empty());
  }
  EXPECT_EQ(render::find_reason("broadcast/chain:segments=4"), render::find_reason("reduce/chain"));
  EXPECT_NE(render::find_reason("scatter/binomial"), render::find_reason("broadcast/binomial"));
  EXPECT_EQ(render::find_reason("allreduce/none"), nullptr);
}

TEST(Definitions, ComposeToTheWhole) {
  for (const render::Composition& each : render::compositions()) {
    EXPECT_EQ(is_reduction(each.whole), is_reduction(each.first)) << name(each.whole);
  }
  for (const Collective each : collectives()) {
    EXPECT_EQ(render::definition(each).sent.empty(), bounds(each, 4, 4).most_sent == 0);
    EXPECT_EQ(render::has_dual(each), each != Collective::allreduce &&
                                          each != Collective::alltoall &&
                                          each != Collective::barrier);
  }
}

/// As textbooks count them: duals read and write each other's boxes.
TEST(BoxesOfACollective, AreThoseOfTextbooks) {
  const auto count = [](Collective collective) {
    const Boxes found = render::boxes(render::boxed_contract(collective, 4, Rank{0}));
    return std::pair{found.read, found.written};
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(count(Collective::broadcast), (Pair{4, 16}));
  EXPECT_EQ(count(Collective::reduce), (Pair{16, 4}));
  EXPECT_EQ(count(Collective::scatter), (Pair{4, 4}));
  EXPECT_EQ(count(Collective::allgather), (Pair{4, 16}));
  EXPECT_EQ(count(Collective::reduce_scatter), (Pair{16, 4}));
  EXPECT_EQ(count(Collective::allreduce), (Pair{16, 16}));
}

std::vector<double> result(const Schedule& schedule, const Numbers& numbers, std::uint32_t rank) {
  Trace trace(schedule);
  while (trace.round() < schedule.rounds()) trace.advance();
  std::vector<double> all;
  const ChunkSeries output = schedule.contract.output(rank);
  for (std::uint64_t i = 0; i < output.count; ++i) {
    const auto& one = numbers.of(trace.symbols(), trace.held(rank, output[i]));
    EXPECT_EQ(one, numbers.promised(output[i]));
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

TEST(NumbersOfASchedule, AreTheSumsOfExerciseOne) {
  const Schedule schedule = algorithm("reduce_scatter/ring").schedule({.ranks = 4});
  const Numbers::Rows rows = Numbers::parse("1,2,3,4;5,6,7,8;9,10,11,12;13,14,15,16");
  const Numbers sums(schedule.contract, rows, Combine::sum);
  EXPECT_EQ(result(schedule, sums, 0), std::vector<double>{28});
  EXPECT_EQ(result(schedule, sums, 3), std::vector<double>{40});
  const Numbers most(schedule.contract, rows, Combine::max);
  EXPECT_EQ(result(schedule, most, 1), std::vector<double>{14});
}

TEST(NumbersOfASchedule, AreDealtOutFromOneList) {
  const Schedule gathered = algorithm("allgather/bruck").schedule({.ranks = 4});
  const Numbers own(gathered.contract, Numbers::parse("7 8 9 10"), Combine::sum);
  EXPECT_EQ(result(gathered, own, 2), (std::vector<double>{7, 8, 9, 10}));
  const Schedule sent = algorithm("scatter/binomial").schedule({.ranks = 3, .root = Rank{1}});
  const Numbers at_root(sent.contract, Numbers::parse("1,2,3,4"), Combine::sum);
  EXPECT_EQ(result(sent, at_root, 0), (std::vector<double>{1, 2}));
  const Schedule exchanged = algorithm("alltoall/pairwise").schedule({.ranks = 2});
  const Numbers pairs(exchanged.contract, Numbers::parse("1,2,3,4"), Combine::sum);
  EXPECT_EQ(result(exchanged, pairs, 1), (std::vector<double>{2, 4}));
}

TEST(NumbersOfASchedule, MustFitTheRanks) {
  const Contract contract{.collective = Collective::allreduce, .ranks = 4, .chunks = 4};
  const auto attempt = [&](const std::string& text) {
    const Numbers numbers(contract, Numbers::parse(text), Combine::sum);
    (void)numbers.promised(Chunk{0});
  };
  expect_error([&] { attempt("1,2;3"); }, ErrorCode::invalid_argument, "2 lists");
  expect_error([&] { attempt("1,2,3"); }, ErrorCode::invalid_argument, "cannot share evenly");
  expect_error([&] { attempt("1,x"); }, ErrorCode::invalid_argument, "'x' in --values");
  expect_error([&] { attempt(" ; "); }, ErrorCode::invalid_argument, "no numbers");
  expect_error([&] { attempt("1,2,3,4,5;1;1;1"); }, ErrorCode::invalid_argument, "as many numbers");
}

}  // namespace
}  // namespace tutti::test
