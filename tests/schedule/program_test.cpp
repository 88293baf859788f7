#include <algorithm>

#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {
namespace {

const std::vector<Rank> peers{Rank{4}, Rank{2}};
const std::vector<ChunkRange> ranges{{Chunk{3}, 2}, Chunk{9}};

/// One step of each kind.
Program of_every_kind() {
  Program program(7);
  program.send(0, Rank{1}, Chunk{5});
  program.send(1, Rank{1}, ranges);
  program.send(2, peers, ranges);
  program.receive(3, Rank{1}, Chunk{5});
  program.receive(4, Rank{1}, ranges);
  program.receive_reduce(5, peers, 1, ranges);
  return program;
}

constexpr Rank sources_peer{1};
constexpr ChunkRange some_chunk{Chunk{5}};

TEST(Program, KeepsWhatIsAppended) {
  const Program program = of_every_kind();
  ASSERT_EQ(program.size(), 6);
  EXPECT_EQ(program.rounds(), 7);
  const std::vector<Rank> one_peer{Rank{1}};
  const std::vector<ChunkRange> one_chunk{Chunk{5}};
  using enum Step::Kind;
  EXPECT_EQ(program[0],
            (Step{.kind = send, .round = 0, .peers = one_peer, .own = {}, .chunks = one_chunk}));
  EXPECT_EQ(program[1],
            (Step{.kind = send, .round = 1, .peers = one_peer, .own = {}, .chunks = ranges}));
  EXPECT_EQ(program[2],
            (Step{.kind = send, .round = 2, .peers = peers, .own = {}, .chunks = ranges}));
  EXPECT_EQ(program[3],
            (Step{.kind = receive, .round = 3, .peers = one_peer, .own = {}, .chunks = one_chunk}));
  EXPECT_EQ(program[4],
            (Step{.kind = receive, .round = 4, .peers = one_peer, .own = {}, .chunks = ranges}));
  EXPECT_EQ(program[5],
            (Step{.kind = receive, .round = 5, .peers = peers, .own = 1, .chunks = ranges}));
}

TEST(Program, IteratesInOrder) {
  const Program program = of_every_kind();
  std::uint32_t round = 0;
  for (const Step step : program) {
    EXPECT_EQ(step, program[round]);
    EXPECT_EQ(step.round, round++);
  }
  EXPECT_EQ(round, program.size());
  const Program none;
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_TRUE(none.empty());
}

TEST(Program, EqualsACopyMadeStepByStep) {
  const Program program = of_every_kind();
  Program copy(program.rounds());
  copy.reserve(2);
  for (const Step step : program) copy.append(step);
  EXPECT_EQ(copy, program);
}

TEST(Program, DiffersInEveryDetail) {
  const Program program = of_every_kind();
  const auto with = [&](auto change) {
    Program other(program.rounds());
    for (std::size_t i = 0; i < program.size(); ++i) {
      Step step = program[i];
      if (i == 5) change(step);
      other.append(step);
    }
    return other;
  };
  EXPECT_EQ(with([](Step&) {}), program);
  EXPECT_NE(with([](Step& step) { step.kind = Step::Kind::send; }), program);
  EXPECT_NE(with([](Step& step) { step.round = 6; }), program);
  EXPECT_NE(with([](Step& step) { step.own = 0; }), program);
  EXPECT_NE(with([](Step& step) { step.own.reset(); }), program);
  EXPECT_NE(with([](Step& step) { step.peers = step.peers.first(1); }), program);
  EXPECT_NE(with([](Step& step) { step.chunks = step.chunks.first(1); }), program);
  EXPECT_NE(Program(1), Program(2));
}

TEST(Program, DistinguishesFoldWithOwnFirstFromCopy) {
  Program folds(1);
  folds.receive_reduce(0, {peers.data(), 1}, 0, ranges);
  Program copies(1);
  copies.receive(0, peers[0], ranges);
  EXPECT_NE(folds, copies);
  EXPECT_EQ(folds[0].operands(), 2);
  EXPECT_EQ(copies[0].operands(), 1);
}

TEST(Program, KeepsVariantsAndLocalSteps) {
  const std::vector<Variant> sources{Variant{2}, Variant{0}, Variant{1}};
  Program program(3);
  EXPECT_TRUE(program.is_plain());
  program.send(0, Rank{1}, Chunk{4}, Variant{3});
  program.receive(0, Rank{1}, Chunk{5}, Variant{1});
  program.append({.kind = Step::Kind::receive,
                  .variant = Variant{2},
                  .round = 1,
                  .peers = {&sources_peer, 1},
                  .own = 0,
                  .own_variant = Variant{6},
                  .chunks = {&some_chunk, 1}});
  program.copy(1, Chunk{4}, Variant{3}, Variant{0});
  program.reduce(1, Chunk{4}, sources, Variant{5});
  EXPECT_FALSE(program.is_plain());
  EXPECT_EQ(program.last_variant(), Variant{6});
  EXPECT_EQ(program[0].variant, Variant{3});
  EXPECT_EQ(program[1].variant, Variant{1});
  EXPECT_EQ(program[2].own_variant, Variant{6});
  EXPECT_EQ(program[2].own, 0U);
  EXPECT_EQ(program[3].sources.size(), 1U);
  EXPECT_EQ(program[3].operands(), 1U);
  EXPECT_EQ(program[4].operands(), 3U);
  EXPECT_TRUE(program[4].peers.empty());
  EXPECT_TRUE(std::equal(sources.begin(), sources.end(), program[4].sources.begin()));

  // Appended to another program they are the same.
  Program twice = program;
  twice.append(program, 3);
  for (std::size_t i = 0; i < program.size(); ++i) {
    Step later = twice[program.size() + i];
    later.round -= 3;
    EXPECT_EQ(later, program[i]) << i;
  }
  Program copy(3);
  for (const Step step : program) copy.append(step);
  EXPECT_EQ(copy, program);
}

TEST(Program, DiffersInVariantsAndSources) {
  const auto with = [](Variant made, Variant own, std::vector<Variant> sources) {
    Program program(1);
    program.append({.kind = Step::Kind::receive,
                    .variant = made,
                    .peers = {&sources_peer, 1},
                    .own = 0,
                    .own_variant = own,
                    .chunks = {&some_chunk, 1}});
    program.reduce(0, Chunk{0}, sources, Variant{0});
    return program;
  };
  const Program program = with(Variant{1}, Variant{2}, {Variant{3}, Variant{4}});
  EXPECT_EQ(with(Variant{1}, Variant{2}, {Variant{3}, Variant{4}}), program);
  EXPECT_NE(with(Variant{0}, Variant{2}, {Variant{3}, Variant{4}}), program);
  EXPECT_NE(with(Variant{1}, Variant{0}, {Variant{3}, Variant{4}}), program);
  EXPECT_NE(with(Variant{1}, Variant{2}, {Variant{4}, Variant{3}}), program);
  EXPECT_NE(with(Variant{1}, Variant{2}, {Variant{3}}), program);
}

TEST(Program, RejectsTooManySources) {
  Program program(1);
  const std::vector<Variant> many(65536);
  EXPECT_THROW(program.reduce(0, Chunk{0}, many, Variant{1}), Error);
  program.reduce(0, Chunk{0}, std::span(many).first(65535), Variant{1});
  EXPECT_EQ(program[0].sources.size(), 65535U);
}

TEST(Step, CountsItsChunks) {
  EXPECT_EQ(of_every_kind()[0].chunk_count(), 1);
  EXPECT_EQ(of_every_kind()[1].chunk_count(), 3);
  EXPECT_EQ(Step{}.chunk_count(), 0);
}

TEST(Schedule, HasTheRoundsOfItsLongestProgram) {
  Schedule schedule;
  EXPECT_EQ(schedule.rounds(), 0);
  schedule.programs = {Program(2), Program(5), Program(3)};
  EXPECT_EQ(schedule.rounds(), 5);
  EXPECT_EQ(schedule.program(Rank{2}), Program(3));
}

}  // namespace
}  // namespace tutti
