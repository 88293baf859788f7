#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include <tutti/schedule/trace.hpp>
#include <tutti/schedule/verify.hpp>

#include "support/draft.hpp"
#include "support/interpreter.hpp"
#include "support/placed_run.hpp"
#include "support/variant_schedules.hpp"

/// Local steps and several variants of a chunk on a rank.
namespace tutti::test {
namespace {

using Kind = Violation::Kind;

TEST(Variants, CorrectSchedulesAreProvedAndGiveTheExpectedResult) {
  for (std::uint32_t p = 1; p <= 9; ++p) {
    for (const Schedule& each : variant_schedules(p)) {
      SCOPED_TRACE(each.name + " p=" + std::to_string(p));
      const Verification verdict = verify(each);
      EXPECT_TRUE(verdict.ok()) << verdict.violations.front().message;
      EXPECT_EQ(fault_in_meaning(each, 1), "");
      EXPECT_EQ(difference_in_bits(each, 2), "");
      EXPECT_EQ(fault_in_memory(each, Aliasing::out_of_place, 3), "");
      EXPECT_EQ(fault_in_memory(each, Aliasing::in_place, 4), "");
    }
  }
}

Schedule exchange(std::vector<std::vector<DraftStep>> programs, std::uint32_t rounds = 1,
                  Collective collective = Collective::allreduce) {
  const auto ranks = static_cast<std::uint32_t>(programs.size());
  return schedule({.name = "by hand",
                   .contract = {.collective = collective, .ranks = ranks, .chunks = 1},
                   .rounds = rounds,
                   .programs = std::move(programs)});
}

/// Local steps run after the messages of their round, so they may overwrite data that those send.
TEST(Variants, LocalStepMayReplaceWhatItsRoundSends) {
  const Schedule both =
      exchange({{send(0, {1}, {0}), receive(0, {1}, {0}).as(1), local(0, {0, 1}, 0, {0})},
                {send(0, {0}, {0}), receive(0, {0}, {0}).as(1), local(0, {1, 0}, 0, {0})}});
  const Verification verdict = verify(both);
  EXPECT_TRUE(verdict.ok()) << verdict.violations.front().message;
  Trace trace(both);
  trace.advance();
  EXPECT_EQ(to_string(trace.symbols(), trace.held(Rank{0}, Chunk{0})), "a0+b0");
  EXPECT_EQ(to_string(trace.symbols(), trace.held(Rank{0}, Chunk{0}, Variant{1})), "b0");
  EXPECT_EQ(trace.held(Rank{0}, Chunk{0}, Variant{2}), Symbols::nothing);
}

/// A receive may read variant 0 while another receive replaces it: the old version moves to
/// scratch.
TEST(Variants, OwnOperandReplacedInTheSameRoundMovesToScratch) {
  // Rank 0 folds its own data with b into variant 1, and in the same round replaces its own by c.
  const Schedule all = exchange({{fold(0, {1}, 0, {0}).as(1), receive(0, {2}, {0}),
                                  local(0, {1, 0}, 0, {0}), send(1, {1, 2}, {0})},
                                 {send(0, {0}, {0}), receive(1, {0}, {0})},
                                 {send(0, {0}, {0}), receive(1, {0}, {0})}},
                                2);
  const Verification verdict = verify(all);
  EXPECT_TRUE(verdict.ok()) << verdict.violations.front().message;
  for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
    EXPECT_EQ(fault_in_memory(all, aliasing, 5), "");
  }
}

struct Bad {
  std::string title;
  Schedule schedule;
  Kind kind;
  std::string says;
};

[[maybe_unused]] void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.title; }

/// Two ranks that exchange their chunk, with other local steps on rank 0.
Schedule with(std::vector<DraftStep> first, Collective collective = Collective::allreduce) {
  std::vector<DraftStep> steps{send(0, {1}, {0}), receive(0, {1}, {0}).as(1)};
  steps.insert(steps.end(), first.begin(), first.end());
  return exchange({steps, {send(0, {0}, {0}), fold(0, {0}, 0, {0})}}, 1, collective);
}

DraftStep changed(DraftStep step, const std::function<void(DraftStep&)>& change) {
  change(step);
  return step;
}

std::vector<Bad> bad_schedules() {
  const DraftStep good = local(0, {0, 1}, 0, {0});
  return {
      {"Peers", with({changed(good, [](DraftStep& step) { step.peers = {Rank{1}}; })}),
       Kind::malformed, "a local step has no peers"},
      {"NoSources", with({changed(good, [](DraftStep& step) { step.sources.clear(); })}),
       Kind::malformed, "has no sources"},
      {"CopyOntoItself", with({local(0, {1}, 1, {0})}), Kind::malformed,
       "copies variant 1 onto itself"},
      {"MessageAfterALocalStep",
       exchange({{local(0, {0}, 1, {0}), send(0, {1}, {0}), fold(0, {1}, 0, {0})},
                 {send(0, {0}, {0}), fold(0, {0}, 0, {0})}}),
       Kind::malformed, "comes after a local step of its round, but messages must come first"},
      {"OwnVariantWithoutFold", with({receive(0, {1}, {0}).with(1)}), Kind::malformed,
       "names variant 1 as its own operand but does not fold it"},
      {"FoldInANonReduction",
       exchange({{send(0, {1}, {0}), local(0, {0, 0}, 1, {0})}, {receive(0, {0}, {0})}}, 1,
                Collective::broadcast),
       Kind::malformed, "folds, but broadcast is not a reduction"},
      {"ReadOfUnwritten", with({local(0, {0, 2}, 0, {0})}), Kind::unwritten,
       "reads variant 2, which was never written"},
      {"SendOfUnwritten",
       exchange({{send(0, {1}, {0}).as(3), fold(0, {1}, 0, {0})},
                 {send(0, {0}, {0}), fold(0, {0}, 0, {0})}}),
       Kind::unwritten, "reads variant 3, which was never written"},
      {"OwnIsUnwritten",
       exchange({{send(0, {1}, {0}), fold(0, {1}, 0, {0}).with(4)},
                 {send(0, {0}, {0}), fold(0, {0}, 1, {0})}}),
       Kind::unwritten, "reads variant 4, which was never written"},
      {"VariantWrittenTwice",
       exchange({{receive(0, {1}, {0}).as(1), receive(0, {2}, {0}).as(1)},
                 {send(0, {0}, {0})},
                 {send(0, {0}, {0})}}),
       Kind::race, "writes variant 1 that step 0 of the same round writes"},
      {"VariantSentAndReplaced",
       exchange({{local(0, {0}, 1, {0}), send(1, {1}, {0}).as(1), receive(1, {1}, {0}).as(1)},
                 {receive(1, {0}, {0}).as(1), send(1, {0}, {0})}},
                2),
       Kind::race, "writes variant 1 that step 1 of the same round reads"},
      {"SumLeftInAVariant", with({local(0, {0, 1}, 2, {0})}), Kind::wrong_output,
       "holds a0 and lacks b0"},
      {"OrderOfSources", with({local(0, {0, 1}, 0, {0})}), Kind::disagreement,
       "adds b0+a0 where rank 0 adds a0+b0"},
  };
}

class BadVariants : public ::testing::TestWithParam<Bad> {};

TEST_P(BadVariants, AreFound) {
  const Verification verdict = verify(GetParam().schedule, Aliasing::out_of_place);
  const bool found =
      std::any_of(verdict.violations.begin(), verdict.violations.end(), [&](const Violation& each) {
        return each.kind == GetParam().kind &&
               each.message.find(GetParam().says) != std::string::npos;
      });
  std::string all;
  for (const Violation& each : verdict.violations) all += each.message + "\n";
  EXPECT_TRUE(found) << GetParam().says << "\nis not in:\n" << all;
}

INSTANTIATE_TEST_SUITE_P(Verify, BadVariants, ::testing::ValuesIn(bad_schedules()),
                         [](const auto& each) { return each.param.title; });

}  // namespace
}  // namespace tutti::test
