#include <algorithm>
#include <utility>

#include <tutti/error.hpp>
#include <tutti/schedule/algebra.hpp>

namespace tutti {
namespace {

template <class Unsigned>
Unsigned affine(Unsigned first, std::int64_t stride, Unsigned i, Unsigned modulus) {
  const auto m = static_cast<std::int64_t>(modulus);
  const auto at =
      (static_cast<std::int64_t>(first) + stride % m * static_cast<std::int64_t>(i)) % m;
  return static_cast<Unsigned>(at < 0 ? at + m : at);
}

}  // namespace

Program dual(const Program& program, Collective collective, Rank self, Own own) {
  const bool adds = is_reduction(dual(collective));
  if (!program.is_plain()) {
    throw Error(ErrorCode::unsupported,
                "a program with local steps or variants of chunks cannot be run backwards; build it"
                " directly for the dual collective");
  }
  Program reversed(program.rounds());
  reversed.reserve(program.size());
  std::vector<Rank> ascending;
  for (std::size_t i = program.size(); i-- > 0;) {
    Step step = program[i];
    step.round = program.rounds() - 1 - step.round;
    if (step.kind == Step::Kind::receive) {
      step.kind = Step::Kind::send;
      step.own.reset();
    } else {
      step.kind = Step::Kind::receive;
      if (adds) {
        ascending.assign(step.peers.begin(), step.peers.end());
        std::sort(ascending.begin(), ascending.end());
        const auto above = own == Own::last
                               ? ascending.end()
                               : std::lower_bound(ascending.begin(), ascending.end(), self);
        step.own = static_cast<std::uint32_t>(above - ascending.begin());
        step.peers = ascending;
      }
    }
    reversed.append(step);
  }
  return reversed;
}

Program then(Program first, const Program& second) {
  first.append(second, first.rounds());
  return first;
}

Program beside(const Program& one, const Program& other) {
  const auto moment = [](const Step& step) {
    return std::pair(step.round, step.kind == Step::Kind::local);
  };
  Program both(std::max(one.rounds(), other.rounds()));
  both.reserve(one.size() + other.size());
  std::size_t i = 0;
  for (const Step step : other) {
    while (i < one.size() && moment(one[i]) <= moment(step)) both.append(one[i++]);
    both.append(step);
  }
  while (i < one.size()) both.append(one[i++]);
  return both;
}

Rank RankMap::operator()(Rank rank) const {
  return Rank{affine<std::uint32_t>(first, stride, rank.index(), modulus)};
}

void ChunkMap::map(ChunkRange range, std::vector<ChunkRange>& into) const {
  for (std::uint64_t i = 0; i < range.count; ++i) {
    const ChunkRange next(
        Chunk{affine<std::uint64_t>(first, stride, range.first.index() + i, modulus)}, width);
    if (i > 0 && into.back().end() == next.first) {
      into.back().count += next.count;
    } else {
      into.push_back(next);
    }
  }
}

Program embed(const Program& program, const RankMap& ranks, const ChunkMap& chunks) {
  Program embedded(program.rounds());
  embedded.reserve(program.size());
  std::vector<Rank> peers;
  std::vector<ChunkRange> ranges;
  for (Step step : program) {
    peers.clear();
    for (const Rank peer : step.peers) peers.push_back(ranks(peer));
    ranges.clear();
    for (const ChunkRange& range : step.chunks) chunks.map(range, ranges);
    step.peers = peers;
    step.chunks = ranges;
    embedded.append(step);
  }
  return embedded;
}

}  // namespace tutti
