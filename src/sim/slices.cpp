#include "sim/slices.hpp"

#include <algorithm>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

constexpr std::uint64_t most_pieces = 1U << 26;

std::uint64_t longest_chunk(const Layout& layout) {
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < layout.chunks(); ++i) {
    longest = std::max(longest, layout.size(Chunk{i}));
  }
  return longest;
}

/// Splits every chunk into `pieces` pieces whose sizes differ by at most one.
Layout layout_of_pieces(const Layout& layout, std::uint64_t pieces) {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(layout.chunks() * pieces);
  for (std::uint64_t i = 0; i < layout.chunks(); ++i) {
    const std::uint64_t size = layout.size(Chunk{i});
    for (std::uint64_t k = 0; k < pieces; ++k) {
      sizes.push_back(size / pieces + (k < size % pieces ? 1 : 0));
    }
  }
  return Layout::counted(sizes);
}

/// Splits the programs of one schedule.
class Cutter {
 public:
  Cutter(Layout pieces, std::uint64_t pieces_per_chunk, std::uint64_t slice)
      : layout_(std::move(pieces)), pieces_(pieces_per_chunk), slice_(slice) {}

  [[nodiscard]] Program cut(const Program& program) const {
    Program cut(program.rounds());
    cut.reserve(program.size());
    for (const Step step : program) add(step, cut);
    return cut;
  }

 private:
  void add(Step step, Program& into) const {
    const auto chunks = step.chunks;
    std::vector<ChunkRange> taken;
    std::uint64_t bytes = 0;
    const auto hand_over = [&] {
      step.chunks = taken;
      into.append(step);
      taken.clear();
      bytes = 0;
    };
    for (const ChunkRange& range : chunks) {
      for (std::uint64_t i = range.first.index() * pieces_; i < range.end().index() * pieces_;
           ++i) {
        const std::uint64_t size = layout_.size(Chunk{i});
        if (!taken.empty() && bytes + size > slice_) hand_over();
        bytes += size;
        if (!taken.empty() && taken.back().end() == Chunk{i}) {
          ++taken.back().count;
        } else {
          taken.emplace_back(Chunk{i});
        }
      }
    }
    hand_over();
  }

  Layout layout_;
  std::uint64_t pieces_;
  std::uint64_t slice_;
};

}  // namespace

Slices cut_into_slices(const ScheduleSource& source, const Layout& layout, std::uint64_t slice) {
  const std::uint64_t longest = longest_chunk(layout);
  const std::uint64_t pieces = std::max<std::uint64_t>(1, (longest + slice - 1) / slice);
  if (pieces > most_pieces / std::max<std::uint64_t>(1, layout.chunks())) {
    throw Error(ErrorCode::invalid_argument, "slices of " + std::to_string(slice) +
                                                 " bytes would cut " + source.name +
                                                 " into more than " + std::to_string(most_pieces) +
                                                 " pieces; use longer slices");
  }
  const Layout cut = layout_of_pieces(layout, pieces);
  Contract contract = source.contract;
  contract.chunks *= pieces;
  return {.source = {.name = source.name,
                     .contract = contract,
                     .program = [cutter = Cutter(cut, pieces, slice),
                                 &source](Rank rank) { return cutter.cut(source.program(rank)); },
                     .one_rule = source.one_rule},
          .layout = cut};
}

}  // namespace tutti
