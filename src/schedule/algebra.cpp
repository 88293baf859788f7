#include <algorithm>
#include <tuple>
#include <utility>

#include <tutti/error.hpp>
#include <tutti/schedule/algebra.hpp>

namespace tutti {
namespace {

/// `at` modulo `m`, with the sign of `at`. Most numbers are small, and divisions slow.
std::int64_t remainder(std::int64_t at, std::int64_t m) { return at > -m && at < m ? at : at % m; }

template <class Unsigned>
Unsigned affine(Unsigned first, std::int64_t stride, Unsigned i, Unsigned modulus) {
  const auto m = static_cast<std::int64_t>(modulus);
  const std::int64_t at = remainder(
      static_cast<std::int64_t>(first) + remainder(stride, m) * static_cast<std::int64_t>(i), m);
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
  return affine<std::uint32_t>(first, stride, rank, modulus);
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

namespace {

/// `map_range` appends the images of a range.
template <class MapRange>
Program embed_by(const Program& program, const RankMap& ranks, MapRange map_range) {
  Program embedded(program.rounds());
  embedded.reserve(program.size());
  std::vector<Rank> peers;
  std::vector<ChunkRange> ranges;
  for (Step step : program) {
    peers.clear();
    for (const Rank peer : step.peers) peers.push_back(ranks(peer));
    ranges.clear();
    for (const ChunkRange& range : step.chunks) map_range(range, ranges);
    step.peers = peers;
    step.chunks = ranges;
    embedded.append(step);
  }
  return embedded;
}

/// Joins ranges that follow each other, from range number `first` on.
void join(std::vector<ChunkRange>& ranges, std::size_t first) {
  std::size_t kept = first;
  for (std::size_t i = first + 1; i < ranges.size(); ++i) {
    if (ranges[kept].end() == ranges[i].first) {
      ranges[kept].count += ranges[i].count;
    } else {
      ranges[++kept] = ranges[i];
    }
  }
  if (first < ranges.size()) ranges.resize(kept + 1);
}

}  // namespace

Program embed(const Program& program, const RankMap& ranks, const ChunkMap& chunks) {
  return embed_by(program, ranks, [&](ChunkRange range, std::vector<ChunkRange>& into) {
    chunks.map(range, into);
  });
}

Program embed_sets(const Program& program, const RankMap& ranks, const ChunkSets& chunks) {
  return embed_by(program, ranks, [&](ChunkRange range, std::vector<ChunkRange>& into) {
    const std::size_t before = into.size();
    for (std::uint64_t i = 0; i < range.count; ++i) chunks(Chunk{range.first.index() + i}, into);
    join(into, before);
  });
}

Program pipelined(const Program& program, std::uint32_t segments) {
  if (program.rounds() == 0 || segments == 1) return program;
  struct Due {
    std::uint32_t round;
    bool local;  // Local steps come after the messages of a round.
    std::uint32_t segment;
    std::size_t step;
  };
  std::vector<Due> all;
  all.reserve(program.size() * segments);
  for (std::uint32_t s = 0; s < segments; ++s) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Step step = program[i];
      all.push_back({step.round + s, step.kind == Step::Kind::local, s, i});
    }
  }
  std::sort(all.begin(), all.end(), [](const Due& a, const Due& b) {
    return std::tuple(a.round, a.local, a.segment, a.step) <
           std::tuple(b.round, b.local, b.segment, b.step);
  });
  Program copies(program.rounds() + segments - 1);
  copies.reserve(all.size());
  std::vector<ChunkRange> ranges;
  for (const Due& due : all) {
    Step step = program[due.step];
    const ChunkMap own{.first = due.segment, .stride = segments, .modulus = ~std::uint64_t{0} >> 2};
    ranges.clear();
    for (const ChunkRange& range : step.chunks) own.map(range, ranges);
    step.round = due.round;
    step.chunks = ranges;
    copies.append(step);
  }
  return copies;
}

}  // namespace tutti
