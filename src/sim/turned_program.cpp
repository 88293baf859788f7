#include "sim/turned_program.hpp"

#include <algorithm>

namespace tutti {
namespace {

/// Sorts ranges and merges adjacent ones.
void tidy(std::vector<ChunkRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ChunkRange& a, const ChunkRange& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[kept].end() == ranges[i].first) {
      ranges[kept].count += ranges[i].count;
    } else {
      ranges[++kept] = ranges[i];
    }
  }
  if (!ranges.empty()) ranges.resize(kept + 1);
}

/// Adds `count` numbers from `first` on, cyclically, of `size` numbers that begin at `base`.
void add_round(std::uint64_t base, std::uint64_t first, std::uint64_t count, std::uint64_t size,
               std::vector<ChunkRange>& into) {
  const std::uint64_t before_end = std::min(count, size - first);
  into.emplace_back(Chunk{base + first}, before_end);
  if (count > before_end) into.emplace_back(Chunk{base}, count - before_end);
}

}  // namespace

TurnedProgram::TurnedProgram(const Program& of_rank_0, const Contract& contract, bool in_order)
    : program_(of_rank_0), contract_(contract), in_order_(in_order) {}

bool TurnedProgram::equals(const Program& program, std::uint32_t rank) {
  if (program.size() != program_.size() || program.rounds() != program_.rounds()) return false;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!same(program_[i], program[i], rank)) return false;
  }
  return true;
}

bool TurnedProgram::same(const Step& turned, const Step& step, std::uint32_t by) {
  if (turned.kind != step.kind || turned.round != step.round ||
      turned.own.has_value() != step.own.has_value() || turned.peers.size() != step.peers.size() ||
      turned.variant != step.variant || turned.own_variant != step.own_variant ||
      !std::equal(turned.sources.begin(), turned.sources.end(), step.sources.begin(),
                  step.sources.end())) {
    return false;
  }
  const std::uint32_t p = contract_.ranks;
  for (std::size_t i = 0; i < step.peers.size(); ++i) {
    if ((turned.peers[i] + by) % p != step.peers[i]) {
      return !in_order_ && step.kind == Step::Kind::receive && same_peers(turned, step, by) &&
             same_chunks(turned, step, by);
    }
  }
  return same_chunks(turned, step, by);
}

/// A fold names its operands in order of rank, which a rotation changes. For the time that it takes
/// their order does not matter, unless messages compete for a few ports.
bool TurnedProgram::same_peers(const Step& turned, const Step& step, std::uint32_t by) {
  std::vector<std::uint32_t> one;
  std::vector<std::uint32_t> other;
  for (const Rank peer : turned.peers) one.push_back((peer + by) % contract_.ranks);
  for (const Rank peer : step.peers) other.push_back(peer);
  std::sort(one.begin(), one.end());
  std::sort(other.begin(), other.end());
  return one == other;
}

bool TurnedProgram::same_chunks(const Step& turned, const Step& step, std::uint32_t by) {
  one_.clear();
  for (const ChunkRange& range : turned.chunks) turn(range, by, one_);
  tidy(one_);
  other_.assign(step.chunks.begin(), step.chunks.end());
  tidy(other_);
  return one_ == other_;
}

/// Blocks rotate with their ranks; in an alltoall the block of a pair rotates with both ranks. If
/// there is no block per rank, chunks do not rotate.
void TurnedProgram::turn(const ChunkRange& range, std::uint32_t by,
                         std::vector<ChunkRange>& into) const {
  const std::uint64_t p = contract_.ranks;
  const std::uint64_t chunks = contract_.chunks;
  if (contract_.collective == Collective::alltoall) {
    const std::uint64_t row = chunks / p;
    std::uint64_t at = range.first.index();
    for (std::uint64_t left = range.count; left > 0;) {
      const std::uint64_t in_row = std::min(left, row - at % row);
      add_round((at / row + by) % p * row, (at % row + by * (row / p)) % row, in_row, row, into);
      at += in_row;
      left -= in_row;
    }
  } else if (chunks % p == 0) {
    add_round(0, (range.first.index() + by * (chunks / p)) % chunks, range.count, chunks, into);
  } else {
    into.push_back(range);
  }
}

}  // namespace tutti
