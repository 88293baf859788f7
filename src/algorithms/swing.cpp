#include "algorithms/swing.hpp"

#include <algorithm>
#include <bit>

#include <tutti/schedule/algebra.hpp>

#include "algorithms/cyclic.hpp"
#include "algorithms/grid.hpp"

namespace tutti {
namespace {

/// One exchange of the allgather: with whom along which dimension, and the coordinates of the
/// blocks that are sent and received.
struct Swap {
  std::uint32_t to;
  std::uint32_t from;
  std::vector<std::uint32_t> sent{};
  std::vector<std::uint32_t> received{};
};

/// The blocks that a rank holds along one dimension, as distances from itself: the same for all
/// ranks, but mirrored on every other rank of an even dimension.
class Line {
 public:
  Line(std::uint32_t size, std::uint32_t place, bool mirrored)
      : size_(size),
        place_(place),
        direction_(size % 2 == 0 && (place % 2 == 1) != mirrored ? -1 : 1),
        steps_(static_cast<std::uint32_t>(std::bit_width(size - 1))),
        held_(size, false) {
    held_[0] = true;
  }

  [[nodiscard]] std::uint32_t steps() const { return steps_; }

  /// The coordinates of the blocks that the rank holds.
  [[nodiscard]] std::vector<std::uint32_t> blocks() const {
    return coordinates([](std::uint32_t) { return true; });
  }

  /// Exchanges the blocks that the other rank does not have: step number `step` of the
  /// reduce-scatter, backwards.
  Swap exchange(std::uint32_t step) {
    const bool pairs = size_ % 2 == 0;
    const std::int64_t power = std::int64_t{1} << step;
    // Pairs: 1 − 2 + 4 − … ± 2^step.
    const std::int64_t distance = pairs ? (1 + (step % 2 == 0 ? 2 : -2) * power) / 3 : power;
    // The distance of a block from this rank, seen from the other one, and back.
    const auto here = [&](std::uint32_t there) {
      return wrap(pairs ? distance - there : distance + there, size_);
    };
    const auto at = [&](std::int64_t away) { return wrap(place_ + direction_ * away, size_); };
    Swap made{.to = at(pairs ? distance : -distance), .from = at(distance)};
    // The receiver sees block b of this rank at here(b), in its own terms.
    made.sent = coordinates([&](std::uint32_t b) { return !held_[here(b)]; });
    std::vector<std::uint32_t> arrived;
    for (std::uint32_t b = 0; b < size_; ++b) {
      if (held_[b] && !held_[here(b)]) arrived.push_back(here(b));
    }
    for (const std::uint32_t b : arrived) {
      held_[b] = true;
      made.received.push_back(at(b));
    }
    std::sort(made.received.begin(), made.received.end());
    return made;
  }

 private:
  template <class Wanted>
  [[nodiscard]] std::vector<std::uint32_t> coordinates(Wanted wanted) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t b = 0; b < size_; ++b) {
      if (held_[b] && wanted(b))
        found.push_back(wrap(place_ + direction_ * std::int64_t{b}, size_));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::uint32_t size_;
  std::int64_t place_;
  std::int64_t direction_;
  std::uint32_t steps_;
  std::vector<bool> held_;  // By distance from this rank.
};

/// The dimension of each step of the reduce-scatter, and the number of the step in that dimension.
struct Turn {
  std::size_t dimension;
  std::uint32_t step;
};

std::vector<Turn> turns(const std::vector<Line>& lines, std::size_t start) {
  std::vector<Turn> found;
  std::uint32_t most = 0;
  for (const Line& line : lines) most = std::max(most, line.steps());
  for (std::uint32_t step = 0; step < most; ++step) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t dimension = (start + i) % lines.size();
      if (step < lines[dimension].steps()) found.push_back({dimension, step});
    }
  }
  return found;
}

/// The allgather of one part of the data, with block r in chunk r.
Program gathered(const Grid& grid, Rank self, std::size_t start, bool mirrored) {
  std::vector<Line> lines;
  std::vector<std::vector<std::uint32_t>> held;
  for (std::size_t d = 0; d < grid.dimensions(); ++d) {
    lines.emplace_back(grid.size(d), grid.coordinate(self, d), mirrored);
    held.push_back(lines.back().blocks());
  }
  const std::vector<Turn> order = turns(lines, start);
  const auto chunks = [&](std::size_t along, const std::vector<std::uint32_t>& coordinates) {
    std::vector<std::vector<std::uint32_t>> lists = held;
    lists[along] = coordinates;
    std::vector<ChunkRange> ranges;
    for (const Rank owner : grid.ranks(lists)) {
      const Chunk block{owner};
      if (!ranges.empty() && ranges.back().end() == block) {
        ++ranges.back().count;
      } else {
        ranges.emplace_back(block);
      }
    }
    return ranges;
  };
  Program program(static_cast<std::uint32_t>(order.size()));
  for (std::uint32_t round = 0; round < order.size(); ++round) {
    const auto [along, step] = order[order.size() - 1 - round];
    const Swap made = lines[along].exchange(step);
    if (!made.sent.empty()) {
      program.send(round, grid.moved(self, along, made.to), chunks(along, made.sent));
    }
    if (!made.received.empty()) {
      program.receive(round, grid.moved(self, along, made.from), chunks(along, made.received));
    }
    held[along] = lines[along].blocks();
  }
  return program;
}

}  // namespace

Program swing(const Shape& shape, Rank self, std::uint32_t ways) {
  const Grid grid(shape.dimensions);
  const std::uint64_t ranks = shape.size();
  const std::uint64_t parts = std::uint64_t{ways} * grid.dimensions();
  Program all;
  for (std::uint64_t number = 0; number < parts; ++number) {
    const Program up = gathered(grid, self, number / ways, number % ways == 1);
    const Program down = dual(up, Collective::allgather, self);
    const Program part = embed(then(down, up), {.modulus = static_cast<std::uint32_t>(ranks)},
                               ChunkMap{.first = number * ranks, .modulus = parts * ranks});
    all = number == 0 ? part : beside(all, part);
  }
  return all;
}

}  // namespace tutti
