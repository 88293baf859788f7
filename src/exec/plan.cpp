#include "exec/plan.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::uint32_t no_operation = ~std::uint32_t{0};

/// A position in an operation's stream.
struct Use {
  std::uint32_t operation = no_operation;
  std::size_t at = 0;
};

class Compiler {
 public:
  Compiler(const Blueprint& blueprint, const PlanSize& size)
      : program_(blueprint.program),
        contract_(blueprint.contract),
        self_(blueprint.self),
        in_place_(blueprint.aliasing == Aliasing::in_place),
        layout_(size.layout),
        element_bytes_(size.element_bytes),
        lanes_(size.lanes),
        stretch_(size.stretch),
        segment_length_(segment_length(size)),
        segments_(segments_of(size)),
        in_order_to_(size.in_order_to),
        placement_(blueprint.placement),
        slots_(blueprint.slots),
        offsets_(slots_.size() * (buffers - 1) + slots_.total(), unset),
        memory_(offsets_.size() * segments_) {
    // Most programs have one piece per step. Longer lists may grow.
    const std::size_t steps = program_.size() * segments_;
    plan_.operations.reserve(steps);
    plan_.pieces.reserve(steps);
    plan_.peers.reserve(steps);
    plan_.ranks.reserve(steps);
    plan_.waits.reserve(2 * steps);
    readers_.reserve(2 * steps);
  }

  Plan compile() {
    require_places_that_fit();
    lay_out(contract_.input(self_), Buffer::input);
    lay_out(contract_.output(self_), Buffer::output);
    add_copies(placement_.before(), plan_.before);
    add_all();
    add_copies(placement_.aside(), plan_.aside);
    find_forwards(plan_);
    find_exposures(plan_);
    // Segments are a pipeline: several of them are under way at once.
    constexpr std::size_t page = 4096;
    find_order(plan_, segments_ == 1 ? in_order_to_ : std::min(in_order_to_, page));
    return std::move(plan_);
  }

 private:
  static constexpr std::size_t buffers = 4;
  static constexpr std::size_t unset = ~std::size_t{0};

  /// The last write to some bytes, and the reads since then.
  struct Bytes {
    Use writer;
    std::uint32_t last_reader = none;  // In `readers_`.
  };
  /// A list of readers, the last one first.
  struct Reader {
    Use use;
    std::uint32_t before;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// The number of operations with each peer so far.
  class Turns {
   public:
    std::uint32_t next(Rank peer) {
      // Few peers: a search is faster than a hash. Usually it is the same one, or a new one.
      if (counts_.size() <= most_searched) {
        for (auto each = counts_.rbegin(); each != counts_.rend(); ++each) {
          if (each->first == peer) return each->second++;
        }
        if (counts_.size() < most_searched) {
          counts_.emplace_back(peer, 1);
          return 0;
        }
        for (const auto& [rank, count] : counts_) many_[rank] = count;
        counts_.emplace_back(peer, 0);  // From now on `many_` counts.
      }
      return many_[peer]++;
    }

   private:
    static constexpr std::size_t most_searched = 16;
    std::vector<std::pair<Rank, std::uint32_t>> counts_;
    std::unordered_map<std::uint32_t, std::uint32_t> many_;
  };

  void require_places_that_fit() const {
    if (!in_place_) return;
    const ChunkSeries input = contract_.input(self_);
    for (std::uint64_t i = 0; i < input.count; ++i) {
      const Chunk over = contract_.output_over(self_, input[i]).value_or(input[i]);
      if (layout_.size(over) == layout_.size(input[i])) continue;
      throw Error(
          ErrorCode::invalid_argument,
          "rank " + std::to_string(self_) + ": an " + std::string(name(contract_.collective)) +
              " in place needs blocks of equal size, since they swap places; use a separate "
              "output buffer");
    }
  }

  [[nodiscard]] std::size_t bytes(Chunk chunk) const {
    const std::uint64_t size = layout_.size(chunk);
    if (size <= stretch_.begin) return 0;
    return std::min(size - stretch_.begin, stretch_.length) * element_bytes_;
  }

  /// Without a limit, the one segment is the whole chunk.
  static std::uint64_t segment_length(const PlanSize& request) {
    return request.segment == 0 ? ~std::uint64_t{0} : request.segment;
  }

  static std::uint32_t segments_of(const PlanSize& request) {
    if (request.segment == 0) return 1;
    std::uint64_t longest = 1;
    for (std::uint64_t i = 0; i < request.layout.chunks(); ++i) {
      const std::uint64_t size = request.layout.size(Chunk{i});
      if (size > request.stretch.begin) longest = std::max(longest, size - request.stretch.begin);
    }
    longest = std::min(longest, request.stretch.length);
    return static_cast<std::uint32_t>((longest + request.segment - 1) / request.segment);
  }

  /// Where the current segment begins in a chunk, and its length.
  [[nodiscard]] std::size_t segment_begin() const {
    return segment_ == 0 ? 0 : segment_ * segment_length_ * element_bytes_;
  }
  [[nodiscard]] std::size_t segment_bytes(Chunk chunk) const {
    const std::size_t whole = bytes(chunk);
    const std::size_t begin = segment_begin();
    if (segments_ == 1 || whole <= begin) return whole <= begin ? 0 : whole;
    return std::min(whole - begin, segment_length_ * element_bytes_);
  }

  /// Adds the operations in order of time. See PlanRequest::segment.
  void add_all() {
    if (program_.size() == 0) return;
    // A segment is sent before the fold that precedes it in the order has its data. With a skew of
    // one, ranks would wait for each other at every segment.
    const std::uint32_t skew = segments_ == 1 ? 1 : 2;
    const std::uint32_t last_round = program_[program_.size() - 1].round;
    std::uint32_t first = 0;  // Earlier steps have been added with all their segments.
    for (time_ = 0; time_ <= last_round * skew + segments_ - 1; ++time_) {
      for (std::uint32_t i = first; i < program_.size(); ++i) {
        const std::uint32_t begin = program_[i].round * skew;
        if (begin > time_) break;
        segment_ = time_ - begin;
        if (segment_ < segments_) {
          add(i);
        } else if (i == first) {
          ++first;
        }
      }
    }
    segment_ = 0;
  }

  void lay_out(const ChunkSeries& series, Buffer buffer) {
    std::size_t offset = 0;
    for (std::uint64_t i = 0; i < series.count; ++i) {
      offsets_[place_of(buffer, series[i])] = offset + stretch_.begin * element_bytes_;
      offset += layout_.size(series[i]) * element_bytes_;
    }
  }

  [[nodiscard]] std::size_t place_of(Buffer buffer, Chunk chunk, Variant variant = {}) const {
    if (variant != Variant{}) return slots_.size() * (buffers - 1) + slots_.slot(chunk, variant);
    return slots_[chunk] * buffers + static_cast<std::size_t>(buffer);
  }

  /// The caller's buffers are laid out beforehand. Scratch is allocated on first use.
  std::size_t offset_of(Buffer buffer, Chunk chunk, Variant variant = {}) {
    std::size_t& offset = offsets_[place_of(buffer, chunk, variant)];
    if (offset == unset) {
      std::size_t& total = buffer == Buffer::scratch ? plan_.scratch_bytes : plan_.spare_bytes;
      offset = total;
      total += (bytes(chunk) + cache_line - 1) / cache_line * cache_line;
    }
    return offset;
  }

  /// The state of the bytes at a place. In place, input and output alias.
  Bytes& memory_at(Buffer buffer, Chunk chunk, Variant variant) {
    if (variant == Variant{} && in_place_ && buffer == Buffer::input) {
      const std::optional<Chunk> over = contract_.output_over(self_, chunk);
      if (over) return memory_[place_of(Buffer::output, *over) * segments_ + segment_];
    }
    return memory_[place_of(buffer, chunk, variant) * segments_ + segment_];
  }

  /// The buffer of a variant that a step reads. The chunk itself is in `piece.from`, its other
  /// variants are in scratch.
  static Buffer buffer_of(const Placement::Piece& piece, Variant variant) {
    return variant == Variant{} ? piece.from : Buffer::scratch;
  }

  void add_copies(std::span<const Placement::Copy> copies, std::vector<Plan::Copy>& into) {
    for (const Placement::Copy& copy : copies) {
      for (std::uint64_t i = 0; i < copy.chunks.count; ++i) {
        const Chunk chunk{copy.chunks.first.index() + i};
        if (bytes(chunk) == 0) continue;
        into.push_back({.from = copy.from,
                        .to = copy.to,
                        .from_offset = offset_of(copy.from, chunk),
                        .to_offset = offset_of(copy.to, chunk),
                        .bytes = bytes(chunk)});
      }
    }
  }

  /// A send to peers in several lanes becomes several sends.
  void add(std::uint32_t step_index) {
    const Step step = program_[step_index];
    if (step.makes() || lanes_.empty() || step.peers.size() == 1) {
      add_operation(step_index, step, step.peers);
      return;
    }
    std::vector<Rank> left(step.peers.begin(), step.peers.end());
    while (!left.empty()) {
      const std::uint32_t lane = lanes_[left.front()];
      const auto others = std::stable_partition(left.begin(), left.end(),
                                                [&](Rank peer) { return lanes_[peer] == lane; });
      add_operation(step_index, step, {left.begin(), others});
      left.erase(left.begin(), others);
    }
  }

  void add_operation(std::uint32_t step_index, const Step& step, std::span<const Rank> peers) {
    const auto id = static_cast<std::uint32_t>(plan_.operations.size());
    const auto first_source = static_cast<std::uint32_t>(plan_.sources.size());
    std::size_t at = 0;
    for (const Placement::Piece& piece : placement_.pieces(step_index)) {
      for (std::uint64_t i = 0; i < piece.chunks.count; ++i) {
        const Chunk chunk{piece.chunks.first.index() + i};
        const std::size_t size = segment_bytes(chunk);
        if (size == 0) continue;
        collect_waits(step, piece, chunk, at);
        add_chunk(step, piece, chunk, {.operation = id, .at = at});
        remember(step, piece, chunk, {.operation = id, .at = at});
        at += size;
      }
    }
    if (at == 0) return;  // Both ends know that no bytes are sent.
    const auto first_peer = static_cast<std::uint32_t>(plan_.peers.size());
    auto& turns = step.kind == Step::Kind::send ? send_turns_ : receive_turns_;
    for (const Rank peer : peers) {
      const std::uint32_t turn = turns.next(peer);
      plan_.has_turns |= turn > 0;
      plan_.peers.push_back({.rank = peer, .turn = turn});
      plan_.ranks.push_back(peer);
    }
    plan_.operations.push_back(
        {.kind = step.kind,
         .round = step.round,
         .time = time_,
         .segment = segment_,
         .begins_message = segment_ == 0 && stretch_.begin == 0,
         .own = step.own,
         .bytes = at,
         .peers = {.begin = first_peer, .end = static_cast<std::uint32_t>(plan_.peers.size())},
         .pieces = {.begin = first_piece(), .end = static_cast<std::uint32_t>(plan_.pieces.size())},
         .operands = static_cast<std::uint32_t>(step.sources.size()),
         .first_source = first_source});
  }

  /// Adds one chunk of a step: a new piece, or more bytes of the last one.
  void add_chunk(const Step& step, const Placement::Piece& placed, Chunk chunk, const Use& use) {
    sources_.clear();
    step.for_each_read([&](Variant variant) {
      const Buffer buffer = buffer_of(placed, variant);
      sources_.push_back(
          {.buffer = buffer, .offset = offset_of(buffer, chunk, variant) + segment_begin()});
    });
    // An unused side copies the other's offset, so that it never prevents merging.
    Plan::Source to{.buffer = placed.to, .offset = 0};
    to.offset = step.makes() ? offset_of(to.buffer, chunk, step.variant) + segment_begin()
                             : sources_[0].offset;
    const Plan::Source from =
        sources_.empty() ? Plan::Source{.buffer = placed.from, .offset = to.offset} : sources_[0];
    if (step.kind != Step::Kind::local) sources_.clear();
    add_piece({.begin = use.at,
               .bytes = segment_bytes(chunk),
               .from = from.buffer,
               .to = to.buffer,
               .from_offset = from.offset,
               .to_offset = to.offset,
               .waits = {}});
  }

  void wait_for(const Use& use, std::size_t at) {
    if (use.operation == no_operation) return;
    waits_.push_back({.operation = use.operation,
                      .shift = static_cast<std::int64_t>(use.at) - static_cast<std::int64_t>(at)});
  }

  void collect_waits(const Step& step, const Placement::Piece& piece, Chunk chunk, std::size_t at) {
    waits_.clear();
    step.for_each_read(
        [&](Variant variant) { wait_for(memory_at(piece.from, chunk, variant).writer, at); });
    if (!step.makes()) return;
    const Bytes& target = memory_at(piece.to, chunk, step.variant);
    wait_for(target.writer, at);
    const std::size_t first = waits_.size();
    for (std::uint32_t i = target.last_reader; i != none; i = readers_[i].before) {
      wait_for(readers_[i].use, at);
    }
    std::reverse(waits_.begin() + static_cast<std::ptrdiff_t>(first), waits_.end());
  }

  void remember(const Step& step, const Placement::Piece& piece, Chunk chunk, const Use& use) {
    step.for_each_read([&](Variant variant) {
      Bytes& bytes = memory_at(piece.from, chunk, variant);
      readers_.push_back({.use = use, .before = bytes.last_reader});
      bytes.last_reader = static_cast<std::uint32_t>(readers_.size() - 1);
    });
    if (!step.makes()) return;
    Bytes& target = memory_at(piece.to, chunk, step.variant);
    target.writer = use;
    target.last_reader = none;
  }

  /// Merges the piece with the last one if both are adjacent in memory and wait for the same.
  void add_piece(const Plan::Piece& piece) {
    if (plan_.pieces.size() > first_piece()) {
      Plan::Piece& last = plan_.pieces.back();
      if (last.from == piece.from && last.to == piece.to &&
          last.from_offset + last.bytes == piece.from_offset &&
          last.to_offset + last.bytes == piece.to_offset && waits_alike() &&
          sources_follow(last.bytes)) {
        last.bytes += piece.bytes;
        return;
      }
    }
    plan_.sources.insert(plan_.sources.end(), sources_.begin(), sources_.end());
    const auto first_wait = static_cast<std::uint32_t>(plan_.waits.size());
    plan_.waits.insert(plan_.waits.end(), waits_.begin(), waits_.end());
    plan_.pieces.push_back(piece);
    plan_.pieces.back().waits = {.begin = first_wait,
                                 .end = static_cast<std::uint32_t>(plan_.waits.size())};
  }

  /// The first piece of the operation that is being added.
  [[nodiscard]] std::uint32_t first_piece() const {
    return plan_.operations.empty() ? 0 : plan_.operations.back().pieces.end;
  }

  /// True if each source directly follows that of the last piece, which has `last_bytes`.
  [[nodiscard]] bool sources_follow(std::size_t last_bytes) const {
    const std::size_t begin = plan_.sources.size() - sources_.size();
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      const Plan::Source& last = plan_.sources[begin + k];
      if (last.buffer != sources_[k].buffer || last.offset + last_bytes != sources_[k].offset) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool waits_alike() const {
    const std::span<const Plan::Wait> last = plan_.pieces.back().waits.of(plan_.waits);
    return std::equal(last.begin(), last.end(), waits_.begin(), waits_.end(),
                      [](const Plan::Wait& a, const Plan::Wait& b) {
                        return a.operation == b.operation && a.shift == b.shift;
                      });
  }

  const Program& program_;
  const Contract& contract_;
  Rank self_;
  bool in_place_;
  const Layout& layout_;
  std::size_t element_bytes_;
  std::span<const std::uint32_t> lanes_;
  ElementRange stretch_;
  std::uint64_t segment_length_;
  std::uint32_t segments_;
  std::size_t in_order_to_;
  std::uint32_t segment_ = 0;  // The current one.
  std::uint32_t time_ = 0;     // The current one.
  const Placement& placement_;
  const ChunkSlots& slots_;
  std::vector<std::size_t> offsets_;
  std::vector<Bytes> memory_;
  std::vector<Reader> readers_;
  Turns send_turns_;
  Turns receive_turns_;
  std::vector<Plan::Wait> waits_;      // Of the current chunk.
  std::vector<Plan::Source> sources_;  // Of the current chunk.
  Plan plan_;
};

}  // namespace

Plan compile(const Blueprint& blueprint, const PlanSize& size) {
  return Compiler(blueprint, size).compile();
}

Plan compile(const PlanRequest& request) {
  const Blueprint blueprint(request.contract, request.program, request.self, request.aliasing);
  return compile(blueprint, {.layout = request.layout,
                             .element_bytes = request.element_bytes,
                             .lanes = request.lanes,
                             .stretch = request.stretch,
                             .segment = request.segment,
                             .in_order_to = request.in_order_to});
}

}  // namespace tutti
