#include <functional>

#include <gtest/gtest.h>

#include <tutti/schedule/verify.hpp>

#include "support/draft.hpp"

namespace tutti::test {
namespace {

using Kind = Violation::Kind;

/// A schedule with one fault, and the violation that verify() must report.
struct BadSchedule {
  std::string title;
  Draft draft;
  Kind kind = Kind::malformed;
  Rank rank{};
  std::optional<std::uint32_t> round{};
  std::optional<std::size_t> step{};
  std::optional<Chunk> chunk{};
  std::string says;  ///< A part of the message.
};

/// Prints one in GoogleTest messages.
[[maybe_unused]] void PrintTo(const BadSchedule& bad, std::ostream* out) { *out << bad.title; }

Draft draft_of(Collective collective, std::uint64_t chunks, std::uint32_t rounds,
               std::vector<std::vector<DraftStep>> programs) {
  const auto ranks = static_cast<std::uint32_t>(programs.size());
  return {.name = "by hand",
          .contract = {.collective = collective, .ranks = ranks, .root = {}, .chunks = chunks},
          .rounds = rounds,
          .programs = std::move(programs)};
}

/// A correct schedule to damage: two chunks from rank 0 to rank 1 and on to rank 2.
Draft chain() {
  return draft_of(Collective::broadcast, 2, 2,
                  {{send(0, {1}, {0, 1})},
                   {receive(0, {0}, {0, 1}), send(1, {2}, {0, 1})},
                   {receive(1, {1}, {0, 1})}});
}

Draft spoilt_chain(const std::function<void(Draft&)>& spoil) {
  Draft draft = chain();
  spoil(draft);
  return draft;
}

/// The chain with a different, malformed second step on rank 1.
BadSchedule malformed(std::string title, const std::function<void(DraftStep&)>& spoil,
                      std::string says) {
  BadSchedule bad{.title = std::move(title),
                  .draft = spoilt_chain([&](Draft& draft) { spoil(draft.programs[1][1]); }),
                  .kind = Kind::malformed,
                  .rank = Rank{1},
                  .step = 1,
                  .says = std::move(says)};
  bad.round = bad.draft.programs[1][1].round;
  return bad;
}

std::vector<BadSchedule> malformed_schedules() {
  return {
      {.title = "TooFewPrograms",
       .draft = spoilt_chain([](Draft& draft) { draft.programs.pop_back(); }),
       .kind = Kind::malformed,
       .says = "there are 2 programs for 3 ranks"},
      {.title = "RoundsThatGoBack",
       .draft = spoilt_chain([](Draft& draft) {
         draft.programs[1][0].round = 1;
         draft.programs[1][1].round = 0;
       }),
       .kind = Kind::malformed,
       .rank = Rank{1},
       .round = 0,
       .step = 1,
       .says = "comes after a step of round 1"},
      malformed(
          "RoundBeyondTheLast", [](DraftStep& step) { step.round = 2; }, "only 2 rounds"),
      malformed(
          "NoPeer", [](DraftStep& step) { step.peers.clear(); }, "has no peer"),
      malformed(
          "PeerOutOfRange", [](DraftStep& step) { step.peers = {Rank{3}}; },
          "peer 3 is not one of the 3 ranks"),
      malformed(
          "OwnPeer", [](DraftStep& step) { step.peers = {Rank{1}}; }, "cannot be its own peer"),
      malformed(
          "SendThatFolds", [](DraftStep& step) { step.own = 0; }, "a send cannot fold"),
      malformed(
          "OwnBeyondThePeers",
          [](DraftStep& step) {
            step.kind = Step::Kind::receive;
            step.own = 2;
          },
          "after 2 of 1 peers"),
      malformed(
          "PeerNamedTwice",
          [](DraftStep& step) {
            step.peers = {Rank{2}, Rank{2}};
          },
          "names a peer twice"),
      malformed(
          "FoldInANonReduction",
          [](DraftStep& step) {
            step.kind = Step::Kind::receive;
            step.own = 0;
          },
          "folds, but broadcast is not a reduction"),
      malformed(
          "NoChunks", [](DraftStep& step) { step.chunks.clear(); }, "has no chunks"),
      malformed(
          "EmptyRange", [](DraftStep& step) { step.chunks[0].count = 0; }, "empty range"),
      malformed(
          "ChunkOutOfRange", [](DraftStep& step) { step.chunks = {Chunk{2}}; },
          "chunk 2 is not one of the 2 chunks"),
      malformed(
          "RangePastTheEnd",
          [](DraftStep& step) {
            step.chunks = {{Chunk{1}, 2}};
          },
          "is not one of the 2 chunks"),
      malformed(
          "RangeThatOverflows",
          [](DraftStep& step) {
            step.chunks = {{Chunk{1}, ~std::uint64_t{0}}};
          },
          "is not one of the 2 chunks"),
      malformed(
          "ChunkNamedTwice",
          [](DraftStep& step) {
            step.chunks = {Chunk{1}, Chunk{1}};
          },
          "names a chunk twice"),
      malformed(
          "RangesThatOverlap",
          [](DraftStep& step) {
            step.chunks = {Chunk{1}, {Chunk{0}, 2}};
          },
          "names a chunk twice"),
  };
}

std::vector<BadSchedule> schedules_with_mismatched_ends() {
  return {
      {.title = "SendWithoutReceive",
       .draft = spoilt_chain([](Draft& draft) { draft.programs[2].clear(); }),
       .kind = Kind::unmatched,
       .rank = Rank{1},
       .round = 1,
       .step = 1,
       .says = "rank 2 never receives this"},
      {.title = "ReceiveWithoutSend",
       .draft = spoilt_chain([](Draft& draft) { draft.programs[0].clear(); }),
       .kind = Kind::unmatched,
       .rank = Rank{1},
       .round = 0,
       .step = 0,
       .says = "rank 0 never sends this"},
      {.title = "DifferentChunk",
       .draft = spoilt_chain([](Draft& draft) { draft.programs[2][0].chunks = {Chunk{1}}; }),
       .kind = Kind::chunk_mismatch,
       .rank = Rank{2},
       .round = 1,
       .step = 0,
       .says = "rank 1 sends chunk 0, 1 (its step 1) where chunk 1 is received"},
      {.title = "ChunksInAnotherOrder",
       .draft = spoilt_chain([](Draft& draft) {
         draft.programs[2][0].chunks = {Chunk{1}, Chunk{0}};
       }),
       .kind = Kind::chunk_mismatch,
       .rank = Rank{2},
       .round = 1,
       .step = 0,
       .says = "rank 1 sends chunk 0, 1 (its step 1) where chunk 1, 0 is received"},
      {.title = "ReceivedARoundLater",
       .draft = spoilt_chain([](Draft& draft) {
         draft.rounds = 3;
         draft.programs[2][0].round = 2;
       }),
       .kind = Kind::round_mismatch,
       .rank = Rank{2},
       .round = 2,
       .step = 0,
       .says = "rank 1 sends this in round 1"},
  };
}

std::vector<BadSchedule> schedules_that_race() {
  return {
      {.title = "ForwardedInTheRoundOfItsArrival",
       .draft = draft_of(Collective::broadcast, 1, 1,
                         {{send(0, {1}, {0})},
                          {receive(0, {0}, {0}), send(0, {2}, {0})},
                          {receive(0, {1}, {0})}}),
       .kind = Kind::race,
       .rank = Rank{1},
       .round = 0,
       .step = 1,
       .chunk = Chunk{0},
       .says = "reads the output that step 0 of the same round writes"},
      {.title = "WrittenTwiceInARound",
       .draft = draft_of(
           Collective::broadcast, 1, 1,
           {{send(0, {1}, {0}), send(0, {1}, {0})}, {receive(0, {0}, {0}), receive(0, {0}, {0})}}),
       .kind = Kind::race,
       .rank = Rank{1},
       .round = 0,
       .step = 1,
       .chunk = Chunk{0},
       .says = "writes the output that step 0 of the same round writes"},
      {.title = "FoldedInTwoStepsOfARound",
       .draft = draft_of(Collective::reduce, 1, 1,
                         {{fold(0, {1}, 0, {0}), fold(0, {2}, 0, {0})},
                          {send(0, {0}, {0})},
                          {send(0, {0}, {0})}}),
       .kind = Kind::race,
       .rank = Rank{0},
       .round = 0,
       .step = 1,
       .chunk = Chunk{0},
       .says = "writes the output that step 0 of the same round writes"},
  };
}

std::vector<BadSchedule> schedules_with_wrong_results() {
  return {
      {.title = "SentBeforeItArrives",
       .draft = draft_of(Collective::broadcast, 1, 2,
                         {{send(1, {1, 2}, {0})},
                          {send(0, {2}, {0}), receive(1, {0}, {0})},
                          {receive(0, {1}, {0}), receive(1, {0}, {0})}}),
       .kind = Kind::unwritten,
       .rank = Rank{1},
       .round = 0,
       .step = 0,
       .chunk = Chunk{0},
       .says = "which was never written"},
      {.title = "NothingArrives",
       .draft = draft_of(Collective::broadcast, 1, 0, {{}, {}}),
       .kind = Kind::wrong_output,
       .rank = Rank{1},
       .chunk = Chunk{0},
       .says = "was never written"},
      {.title = "ContributionMissing",
       .draft =
           draft_of(Collective::reduce, 1, 1, {{fold(0, {1}, 0, {0})}, {send(0, {0}, {0})}, {}}),
       .kind = Kind::wrong_output,
       .rank = Rank{0},
       .chunk = Chunk{0},
       .says = "holds a0+b0 and lacks c0"},
      {.title = "ContributionRepeated",
       .draft = draft_of(
           Collective::reduce, 1, 2,
           {{fold(0, {1}, 0, {0}), fold(1, {1}, 0, {0})}, {send(0, {0}, {0}), send(1, {0}, {0})}}),
       .kind = Kind::wrong_output,
       .rank = Rank{0},
       .chunk = Chunk{0},
       .says = "holds (a0+b0)+b0, which repeats b0"},
      {.title = "OwnContributionReplaced",
       .draft = draft_of(Collective::reduce, 1, 1, {{receive(0, {1}, {0})}, {send(0, {0}, {0})}}),
       .kind = Kind::wrong_output,
       .rank = Rank{0},
       .chunk = Chunk{0},
       .says = "holds b0 and lacks a0"},
      {.title = "OrderOfAddingDiffers",
       .draft = draft_of(
           Collective::allreduce, 1, 1,
           {{send(0, {1}, {0}), fold(0, {1}, 0, {0})}, {send(0, {0}, {0}), fold(0, {0}, 0, {0})}}),
       .kind = Kind::disagreement,
       .rank = Rank{1},
       .chunk = Chunk{0},
       .says = "adds b0+a0 where rank 0 adds a0+b0"},
      {.title = "BracketsOfAddingDiffer",
       .draft = draft_of(Collective::allreduce, 1, 2,
                         {{send(0, {1}, {0}), fold(0, {1, 2}, 0, {0}), send(1, {2}, {0})},
                          {send(0, {0}, {0}), fold(0, {0}, 1, {0}), fold(1, {2}, 0, {0})},
                          {send(0, {0}, {0}), send(1, {1}, {0}), receive(1, {0}, {0})}}),
       .kind = Kind::disagreement,
       .rank = Rank{1},
       .chunk = Chunk{0},
       .says = "adds (a0+b0)+c0 where rank 0 adds a0+b0+c0"},
  };
}

class Violations : public testing::TestWithParam<BadSchedule> {};

TEST_P(Violations, HaveTheRightKindAndPlace) {
  const BadSchedule& bad = GetParam();
  const Verification verdict = verify(schedule(bad.draft));
  ASSERT_FALSE(verdict.ok());
  for (const Violation& each : verdict.violations) {
    EXPECT_EQ(name(each.kind), name(bad.kind)) << each.message;
  }
  const Violation& first = verdict.violations.front();
  EXPECT_EQ(first.rank, bad.rank);
  EXPECT_EQ(first.round, bad.round);
  EXPECT_EQ(first.step, bad.step);
  EXPECT_EQ(first.chunk, bad.chunk);

  std::vector<std::string> parts{std::string(name(bad.kind)), "rank " + std::to_string(bad.rank),
                                 bad.says};
  if (bad.round) parts.push_back("round " + std::to_string(*bad.round));
  if (bad.step) parts.push_back("step " + std::to_string(*bad.step));
  if (bad.chunk) parts.push_back("chunk " + std::to_string(bad.chunk->index()));
  for (const std::string& part : parts) {
    EXPECT_NE(first.message.find(part), std::string::npos) << part << "\nin: " << first.message;
  }
}

std::string title_of(const testing::TestParamInfo<BadSchedule>& parameter) {
  return parameter.param.title;
}

INSTANTIATE_TEST_SUITE_P(Malformed, Violations, testing::ValuesIn(malformed_schedules()), title_of);
INSTANTIATE_TEST_SUITE_P(Ends, Violations, testing::ValuesIn(schedules_with_mismatched_ends()),
                         title_of);
INSTANTIATE_TEST_SUITE_P(Races, Violations, testing::ValuesIn(schedules_that_race()), title_of);
INSTANTIATE_TEST_SUITE_P(Results, Violations, testing::ValuesIn(schedules_with_wrong_results()),
                         title_of);

}  // namespace

}  // namespace tutti::test
