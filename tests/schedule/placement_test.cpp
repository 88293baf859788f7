#include <algorithm>

#include <gtest/gtest.h>

#include <tutti/schedule/placement.hpp>

#include "support/draft.hpp"
#include "support/problems.hpp"

namespace tutti {

/// Prints a piece in GoogleTest messages.
void PrintTo(const Placement::Piece& piece, std::ostream* out) {
  *out << piece.chunks.first.index() << "+" << piece.chunks.count << " " << name(piece.from) << "→"
       << name(piece.to);
}

}  // namespace tutti

namespace tutti::test {
namespace {

using Piece = Placement::Piece;
using Pieces = std::vector<Piece>;
using enum Buffer;

Pieces pieces_of(std::span<const Piece> span) { return {span.begin(), span.end()}; }

/// The chunks one by one, in order.
template <class Ranges, class ToRange>
std::vector<Chunk> one_by_one(const Ranges& ranges, ToRange to_range) {
  std::vector<Chunk> chunks;
  for (const auto& each : ranges) {
    const ChunkRange range = to_range(each);
    for (std::uint64_t i = 0; i < range.count; ++i) chunks.emplace_back(range.first.index() + i);
  }
  return chunks;
}

std::vector<Chunk> chunks_of(const Step& step) {
  return one_by_one(step.chunks, [](const ChunkRange& range) { return range; });
}
std::vector<Chunk> chunks_of(std::span<const Piece> pieces) {
  return one_by_one(pieces, [](const Piece& piece) { return piece.chunks; });
}

/// The program of one rank and its placement.
struct Placed {
  const Program& program;
  const Contract& contract;
  Rank self;
  Placement placement;
};

/// Calls check(placed) for every rank of every problem with up to 7 ranks.
template <class Check>
void for_each_placement(Aliasing aliasing, Check check) {
  for (const Algorithm& algorithm : algorithms()) {
    for (std::uint32_t p = 1; p <= 7; ++p) {
      for (const Problem& problem : problems(algorithm, p)) {
        const Schedule schedule = algorithm.schedule(problem);
        for (std::uint32_t r = 0; r < p; ++r) {
          SCOPED_TRACE(std::string(algorithm.name) + " " + words(problem) + " rank " +
                       std::to_string(r));
          const Program& program = schedule.programs[r];
          check(Placed{program, schedule.contract, r,
                       place(program, schedule.contract, r, aliasing)});
        }
      }
    }
  }
}

class PlacementOfTable : public testing::TestWithParam<Aliasing> {};

TEST_P(PlacementOfTable, PiecesCoverTheChunksOfTheStepInOrder) {
  for_each_placement(GetParam(), [](const Placed& placed) {
    for (std::size_t i = 0; i < placed.program.size(); ++i) {
      EXPECT_EQ(chunks_of(placed.placement.pieces(i)), chunks_of(placed.program[i]));
    }
  });
}

/// For each chunk, the last buffer that it is written to; input if it is never written.
std::vector<Buffer> last_places(const Placed& placed) {
  std::vector<Buffer> last(placed.contract.chunks, input);
  for (std::size_t i = 0; i < placed.program.size(); ++i) {
    if (placed.program[i].kind == Step::Kind::send) continue;
    for (const Piece& piece : placed.placement.pieces(i)) {
      for (std::uint64_t j = 0; j < piece.chunks.count; ++j) {
        last[piece.chunks.first.index() + j] = piece.to;
      }
    }
  }
  return last;
}

TEST_P(PlacementOfTable, LastVersionsOfOutputChunksAreInTheOutput) {
  for_each_placement(GetParam(), [](const Placed& placed) {
    const std::vector<Buffer> last = last_places(placed);
    const ChunkSeries outputs = placed.contract.output(placed.self);
    for (std::uint64_t c = 0; c < placed.contract.chunks; ++c) {
      if (last[c] == input) continue;
      EXPECT_EQ(last[c] == output, outputs.contains(Chunk{c})) << "chunk " << c;
    }
  });
}

TEST_P(PlacementOfTable, InputIsNeverWritten) {
  for_each_placement(GetParam(), [](const Placed& placed) {
    for (std::size_t i = 0; i < placed.program.size(); ++i) {
      if (placed.program[i].kind == Step::Kind::send) continue;
      for (const Piece& piece : placed.placement.pieces(i)) EXPECT_NE(piece.to, input);
    }
    for (const Piece& copy : placed.placement.before()) EXPECT_NE(copy.to, input);
    for (const Piece& copy : placed.placement.aside()) EXPECT_NE(copy.to, input);
  });
}

INSTANTIATE_TEST_SUITE_P(Aliasing, PlacementOfTable,
                         testing::Values(Aliasing::out_of_place, Aliasing::in_place),
                         [](const testing::TestParamInfo<Aliasing>& parameter) {
                           return parameter.param == Aliasing::in_place ? "InPlace" : "OutOfPlace";
                         });

/// Only chunks that a rank keeps for itself are copied, such as its own block of an allgather.
TEST(Placement, OutOfPlaceCopiesOnlyOwnInputThatIsNotReceived) {
  for_each_placement(Aliasing::out_of_place, [](const Placed& placed) {
    EXPECT_TRUE(placed.placement.before().empty());
    const std::vector<Buffer> last = last_places(placed);
    std::vector<Chunk> kept;
    const ChunkSeries outputs = placed.contract.output(placed.self);
    for (std::uint64_t i = 0; i < outputs.count; ++i) {
      const bool is_input = placed.contract.input(placed.self).contains(outputs[i]);
      if (is_input && last[outputs[i].index()] == input) kept.push_back(outputs[i]);
    }
    EXPECT_EQ(chunks_of(placed.placement.aside()), kept);
    for (const Piece& copy : placed.placement.aside()) {
      EXPECT_EQ(copy.from, input);
      EXPECT_EQ(copy.to, output);
    }
  });
}

TEST(Placement, InPlaceNeedsNoCopiesToTheOutput) {
  for_each_placement(Aliasing::in_place,
                     [](const Placed& placed) { EXPECT_TRUE(placed.placement.aside().empty()); });
}

TEST(Placement, InPlaceAlltoallCopiesWhatItSends) {
  const Algorithm& mesh = algorithm("alltoall/mesh");
  for_each_placement(Aliasing::in_place, [&](const Placed& placed) {
    if (placed.contract.collective != Collective::alltoall) return;
    std::vector<Chunk> sent;
    const ChunkSeries inputs = placed.contract.input(placed.self);
    for (std::uint64_t i = 0; i < inputs.count; ++i) {
      if (i != placed.self) sent.push_back(inputs[i]);
    }
    std::vector<Chunk> set_aside = chunks_of(placed.placement.before());
    std::sort(set_aside.begin(), set_aside.end());
    EXPECT_EQ(set_aside, sent);
    for (const Piece& copy : placed.placement.before()) EXPECT_EQ(copy.from, input);
  });
  const Problem pair{.ranks = 2};
  const Placement placement =
      place(mesh.program(pair, Rank{0}), mesh.contract(pair), Rank{0}, Aliasing::in_place);
  EXPECT_EQ(pieces_of(placement.before()), (Pieces{{Chunk{1}, input, spare}}));
  EXPECT_EQ(placement.pieces(0)[0].from, spare);
  EXPECT_EQ(placement.pieces(1)[0].to, output);
}

Placement place_by_hand(const std::vector<DraftStep>& steps, const Contract& contract, Rank self,
                        Aliasing aliasing = Aliasing::out_of_place) {
  return place(program(steps, 9), contract, self, aliasing);
}

constexpr Contract sums{.collective = Collective::allreduce, .ranks = 3, .root = {}, .chunks = 2};

TEST(Placement, FoldReadsTheInputAndWritesTheOutput) {
  const Placement placement = place_by_hand({fold(0, {1}, 0, {0})}, sums, Rank{0});
  EXPECT_EQ(pieces_of(placement.pieces(0)), (Pieces{{Chunk{0}, input, output}}));
  EXPECT_EQ(pieces_of(placement.aside()), (Pieces{{Chunk{1}, input, output}}));
}

TEST(Placement, LaterFoldsStayInTheOutput) {
  const Placement placement =
      place_by_hand({fold(0, {1}, 0, {0}), fold(1, {2}, 0, {0}), send(2, {1}, {0})}, sums, Rank{0});
  EXPECT_EQ(pieces_of(placement.pieces(1)), (Pieces{{Chunk{0}, output, output}}));
  EXPECT_EQ(placement.pieces(2)[0].from, output);
}

/// Recursive doubling: a chunk that is sent in a round is replaced in the same round.
TEST(Placement, VersionSentWhileReplacedMovesToScratch) {
  const Placement placement = place_by_hand(
      {send(0, {1}, {0}), fold(0, {1}, 0, {0}), send(1, {2}, {0}), fold(1, {2}, 0, {0})}, sums,
      Rank{0});
  EXPECT_EQ(placement.pieces(0)[0].from, input);
  EXPECT_EQ(pieces_of(placement.pieces(1)), (Pieces{{Chunk{0}, input, scratch}}));
  EXPECT_EQ(placement.pieces(2)[0].from, scratch);
  EXPECT_EQ(pieces_of(placement.pieces(3)), (Pieces{{Chunk{0}, scratch, output}}));
}

TEST(Placement, ChunkThatIsNoOutputMovesToSpare) {
  const Contract to_two{.collective = Collective::reduce, .ranks = 3, .root = Rank{2}, .chunks = 1};
  const Placement placement = place_by_hand(
      {fold(0, {1}, 0, {0}), send(1, {1}, {0}), receive(1, {1}, {0}), send(2, {2}, {0})}, to_two,
      Rank{0});
  EXPECT_EQ(pieces_of(placement.pieces(0)), (Pieces{{Chunk{0}, input, spare}}));
  EXPECT_EQ(placement.pieces(1)[0].from, spare);
  EXPECT_EQ(placement.pieces(2)[0].to, scratch);
  EXPECT_EQ(placement.pieces(3)[0].from, scratch);
}

TEST(Placement, InPlaceInputSentWhileReplacedIsCopied) {
  const std::vector<DraftStep> trade{send(0, {1}, {0}), fold(0, {1}, 0, {0})};
  const Placement placement = place_by_hand(trade, sums, Rank{0}, Aliasing::in_place);
  EXPECT_EQ(pieces_of(placement.before()), (Pieces{{Chunk{0}, input, scratch}}));
  EXPECT_EQ(placement.pieces(0)[0].from, scratch);
  EXPECT_EQ(pieces_of(placement.pieces(1)), (Pieces{{Chunk{0}, scratch, output}}));
}

TEST(Placement, PieceEndsWhereTheBufferChanges) {
  const Placement placement =
      place_by_hand({fold(0, {1}, 0, {0}), send(1, {1}, {0, 1})}, sums, Rank{0});
  const auto sent = placement.pieces(1);
  ASSERT_EQ(sent.size(), 2);
  EXPECT_EQ(sent[0].from, output);
  EXPECT_EQ(sent[1].from, input);
}

TEST(Buffer, HasNames) {
  EXPECT_EQ(name(input), "input");
  EXPECT_EQ(name(output), "output");
  EXPECT_EQ(name(scratch), "scratch");
  EXPECT_EQ(name(spare), "spare");
}

}  // namespace
}  // namespace tutti::test
