#include <array>
#include <limits>

#include <tutti/schedule/placement.hpp>

#include "schedule/chunk_slots.hpp"

namespace tutti {
namespace {

/// What the forward pass knows about a chunk (variant 0).
struct History {
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t last_read = never;  // The last round in which a message read the current version.
  std::uint32_t written = 0;        // The number of versions that the rank has made.
};

/// A use of a chunk by a step. The forward pass sets the flags, the backward pass the buffers.
struct Touch {
  std::size_t slot;
  bool first_version : 1;  // The step makes the rank's first version.
  bool overlaps : 1;       // Receive: another message of the round reads the previous version.
  Buffer from = Buffer::input;
  Buffer to = Buffer::input;
};

/// The two writable places of a chunk.
struct Places {
  Buffer home;
  Buffer away;

  [[nodiscard]] Buffer other(Buffer buffer) const { return buffer == home ? away : home; }
};

void add(std::vector<Placement::Piece>& pieces, std::size_t begin, Chunk chunk, Buffer from,
         Buffer to) {
  if (pieces.size() > begin) {
    Placement::Piece& last = pieces.back();
    if (last.from == from && last.to == to && last.chunks.end() == chunk) {
      ++last.chunks.count;
      return;
    }
  }
  pieces.push_back({.chunks = chunk, .from = from, .to = to});
}

bool makes_chunk(const Step& step) { return step.makes() && step.variant == Variant{}; }

bool reads_chunk(const Step& step) {
  bool reads = false;
  step.for_each_read([&](Variant variant) { reads |= variant == Variant{}; });
  return reads;
}

class Placer {
 public:
  Placer(const Program& program, const Contract& contract, Rank self, Aliasing aliasing)
      : program_(program),
        contract_(contract),
        self_(self),
        in_place_(aliasing == Aliasing::in_place),
        input_(contract.input(self)),
        output_(contract.output(self)),
        slots_(program, contract, self),
        histories_(slots_.size()) {}

  void read_forwards() {
    for (const Step step : program_) {
      const bool makes = makes_chunk(step);
      // Local steps run after all messages of their round, so they never overlap with a message.
      const bool only_reads = !makes && step.kind != Step::Kind::local && reads_chunk(step);
      for_each_chunk(step, [&](Chunk chunk) {
        Touch touch{.slot = slots_[chunk], .first_version = false, .overlaps = false};
        History& history = histories_[touch.slot];
        if (only_reads) history.last_read = step.round;
        if (makes) {
          touch.overlaps = step.kind == Step::Kind::receive && history.last_read == step.round;
          touch.first_version = history.written++ == 0;
          history.last_read = History::never;
        }
        touches_.push_back(touch);
      });
    }
  }

  /// Assigns a place to each version, the last first, because only the last has no choice.
  void decide_backwards() {
    std::vector<Buffer> place_of(slots_.size(), Buffer::spare);
    std::vector<bool> met(slots_.size(), false);
    std::size_t at = touches_.size();
    for (std::size_t i = program_.size(); i-- > 0;) {
      const Step step = program_[i];
      const bool makes = makes_chunk(step);
      const bool reads = reads_chunk(step);
      for (std::size_t r = step.chunks.size(); r-- > 0;) {
        const ChunkRange& range = step.chunks[r];
        for (std::uint64_t j = range.count; j-- > 0;) {
          const Chunk chunk{range.first.index() + j};
          Touch& touch = touches_[--at];
          // Every other variant has a single place.
          touch.from = Buffer::scratch;
          if (step.makes()) touch.to = Buffer::scratch;
          if (!makes && !reads) continue;
          Buffer& place = place_of[touch.slot];
          if (!met[touch.slot]) {
            met[touch.slot] = true;
            place = last_place(chunk, histories_[touch.slot].written);
          }
          if (makes) {
            touch.to = place;
            place = place_before(chunk, touch);
          }
          if (reads || !step.own) touch.from = place;
        }
      }
    }
  }

  void write(std::vector<Placement::Piece>& pieces, std::vector<std::size_t>& ends) const {
    std::size_t at = 0;
    for (const Step step : program_) {
      const std::size_t begin = pieces.size();
      for_each_chunk(step, [&](Chunk chunk) {
        const Touch& touch = touches_[at++];
        add(pieces, begin, chunk, touch.from, touch.to);
      });
      ends.push_back(pieces.size());
    }
  }

  [[nodiscard]] std::vector<Placement::Copy> before() const {
    std::vector<Placement::Copy> copies;
    for (const Chunk chunk : set_aside_) {
      add(copies, 0, chunk, Buffer::input, places(chunk).away);
    }
    return copies;
  }

  /// Output chunks that are also input of the rank and that no step makes.
  [[nodiscard]] std::vector<Placement::Copy> aside() const {
    std::vector<Placement::Copy> copies;
    if (in_place_) return copies;
    for (std::uint64_t i = 0; i < output_.count; ++i) {
      const Chunk chunk = output_[i];
      if (input_.contains(chunk) && histories_[slots_[chunk]].written == 0) {
        add(copies, 0, chunk, Buffer::input, Buffer::output);
      }
    }
    return copies;
  }

 private:
  [[nodiscard]] Places places(Chunk chunk) const {
    return output_.contains(chunk) ? Places{Buffer::output, Buffer::scratch}
                                   : Places{Buffer::scratch, Buffer::spare};
  }

  [[nodiscard]] Buffer last_place(Chunk chunk, std::uint32_t written) {
    return written == 0 ? place_of_input(chunk) : places(chunk).home;
  }

  /// The place of the version that a step replaces or folds in.
  [[nodiscard]] Buffer place_before(Chunk chunk, const Touch& touch) {
    if (!touch.first_version) return touch.overlaps ? places(chunk).other(touch.to) : touch.to;
    if (!input_.contains(chunk)) return touch.to;  // There is no previous version.
    // In place, the input would be overwritten while it is being sent, so a copy is sent.
    const bool overwritten =
        in_place_ && touch.overlaps && touch.to == Buffer::output && output_.contains(chunk);
    return overwritten ? set_aside(chunk) : place_of_input(chunk);
  }

  /// The place of the rank's input version.
  [[nodiscard]] Buffer place_of_input(Chunk chunk) {
    // In an alltoall in place another chunk overwrites it, so a copy is sent.
    const bool is_overwritten = in_place_ && input_.contains(chunk) &&
                                contract_.output_over(self_, chunk).value_or(chunk) != chunk;
    return is_overwritten ? set_aside(chunk) : Buffer::input;
  }

  Buffer set_aside(Chunk chunk) {
    set_aside_.push_back(chunk);
    return places(chunk).away;
  }

  const Program& program_;
  const Contract& contract_;
  Rank self_;
  bool in_place_;
  ChunkSeries input_;
  ChunkSeries output_;
  ChunkSlots slots_;
  std::vector<History> histories_;
  std::vector<Touch> touches_;
  std::vector<Chunk> set_aside_;
};

}  // namespace

std::string_view name(Buffer buffer) {
  constexpr std::array<std::string_view, 4> names{"input", "output", "scratch", "spare"};
  return names.at(static_cast<std::size_t>(buffer));
}

std::span<const Placement::Piece> Placement::pieces(std::size_t step) const {
  const std::size_t begin = step == 0 ? 0 : ends_[step - 1];
  return {pieces_.data() + begin, ends_[step] - begin};
}

Placement place(const Program& program, const Contract& contract, Rank self, Aliasing aliasing) {
  Placer placer(program, contract, self, aliasing);
  placer.read_forwards();
  placer.decide_backwards();
  Placement placement;
  placer.write(placement.pieces_, placement.ends_);
  placement.before_ = placer.before();
  placement.aside_ = placer.aside();
  return placement;
}

}  // namespace tutti
