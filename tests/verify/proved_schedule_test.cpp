#include <gtest/gtest.h>

#include <tutti/schedule/proved_schedule.hpp>
#include <tutti/schedule/schedule_hash.hpp>

#include "support/draft.hpp"
#include "support/errors.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

TEST(Prove, HoldsTheScheduleItsHashAndItsTraits) {
  const Schedule chain = algorithm("reduce/chain").schedule({.ranks = 4, .root = Rank{2}});
  const ProvedSchedule proved = prove(chain);
  EXPECT_EQ(proved.schedule(), chain);
  EXPECT_EQ(proved.hash(), content_hash(chain));
  EXPECT_TRUE(proved.traits().keeps_data);
  EXPECT_EQ(proved.label(), "schedule 'reduce/chain' " + hash_text(proved.hash()));
}

TEST(Prove, RejectsWithTheFirstViolations) {
  Draft spoilt = draft(algorithm("allreduce/ring").schedule({.ranks = 3}));
  spoilt.name = "my_ring";
  spoilt.programs[0].pop_back();
  expect_error([&] { (void)prove(schedule(spoilt)); }, ErrorCode::invalid_argument,
               "'my_ring' cannot be run: it has 1 violation: unmatched: rank 2");
  // Nothing is ever received: more violations than the message should list.
  for (auto& program : spoilt.programs) {
    std::erase_if(program, [](const DraftStep& step) { return step.kind == Step::Kind::receive; });
  }
  expect_error([&] { (void)prove(schedule(spoilt)); }, ErrorCode::invalid_argument, "; …");
}

TEST(Prove, RejectsFoldsInACollectiveThatDoesNotReduce) {
  // The output is correct, but the schedule adds data in a collective that is not a reduction.
  const Draft draft{.name = "adds",
                    .contract = {.collective = Collective::broadcast, .ranks = 3, .chunks = 2},
                    .rounds = 2,
                    .programs = {{send(0, {1, 2}, {0, 1})},
                                 {receive(0, {0}, {0, 1}), send(1, {2}, {0})},
                                 {receive(0, {0}, {0, 1}), fold(1, {1}, 0, {0})}}};
  expect_error([&] { (void)prove(schedule(draft)); }, ErrorCode::invalid_argument,
               "folds, but broadcast is not a reduction");
}

TEST(Prove, RejectsAPeerThatIsNamedTwice) {
  const Draft draft{.name = "twice",
                    .contract = {.collective = Collective::barrier, .ranks = 2, .chunks = 1},
                    .rounds = 1,
                    .programs = {{send(0, {1, 1}, {0}), fold(0, {1, 1}, 0, {0})},
                                 {send(0, {0, 0}, {0}), fold(0, {0, 0}, 0, {0})}}};
  expect_error([&] { (void)prove(schedule(draft)); }, ErrorCode::invalid_argument,
               "names a peer twice");
}

TEST(ProvedSchedule, ExplainsAMisfit) {
  const ProvedSchedule gather =
      prove(algorithm("gather/flat").schedule({.ranks = 4, .root = Rank{1}}));
  EXPECT_EQ(gather.misfit(Collective::gather, 4, Rank{1}), "");
  EXPECT_EQ(gather.misfit(Collective::gather, 4, Rank{0}),
            gather.label() +
                " is for gather among 4 ranks with root 1, not for gather among 4 ranks "
                "with root 0");
  EXPECT_NE(gather.misfit(Collective::gather, 5, Rank{1}), "");
  EXPECT_NE(gather.misfit(Collective::scatter, 4, Rank{1}), "");
  const ProvedSchedule ring = prove(algorithm("allreduce/ring").schedule({.ranks = 4}));
  EXPECT_EQ(ring.misfit(Collective::allreduce, 4, Rank{3}), "");
  EXPECT_NE(ring.misfit(Collective::allreduce, 8, Rank{0}).find("allreduce among 8 ranks"),
            std::string::npos);
}

TEST(ProvedSchedule, ComparesByContent) {
  Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 2});
  const ProvedSchedule one = prove(ring);
  ring.name = "another name";
  EXPECT_EQ(prove(ring), one);
  EXPECT_FALSE(prove(algorithm("allreduce/mesh").schedule({.ranks = 2})) == one);
}

TEST(ProvedSchedule, LabelsAreShortAndPrintable) {
  Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 2});
  ring.name = "two\nlines";
  EXPECT_EQ(prove(ring).label(), "schedule 'two?lines' " + hash_text(content_hash(ring)));
  ring.name.clear();
  for (int i = 0; i < 100; ++i) ring.name += "ä";
  const std::string label = prove(ring).label();
  EXPECT_NE(label.find("äää…'"), std::string::npos) << label;
  EXPECT_LT(label.size(), 100U);
}

}  // namespace
}  // namespace tutti::test
