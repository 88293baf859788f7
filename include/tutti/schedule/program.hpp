#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/rank.hpp>
#include <tutti/schedule/chunk.hpp>

namespace tutti {

/// One line of a rank's program. A view into the program that it came from.
///
/// A send hands the rank's present version of some chunks to each peer. A receive makes a new
/// version of some chunks: of what arrives from one peer, or of a fold over what arrives from
/// several peers and, if `own` is set, a version the rank had. A local step makes one of what the
/// rank has itself: a copy of one variant, or a fold over several. The operands of a fold stand in
/// a known order, because floating-point sums depend on it.
struct Step {
  enum class Kind : std::uint8_t { send, receive, local };

  Kind kind = Kind::send;
  /// Send: which variant is handed on. Receive and local: which one is made.
  Variant variant{};
  std::uint32_t round = 0;
  /// Send: in the order in which messages leave. Receive: in the order of the fold. Local: none.
  std::span<const Rank> peers{};
  /// Receive: how many peers' contributions stand before the rank's own in the fold; none if the
  /// own version is replaced.
  std::optional<std::uint32_t> own{};
  /// Receive with an own: of which variant that is.
  Variant own_variant{};
  std::span<const ChunkRange> chunks{};
  /// Local: what is copied, or folded in this order.
  std::span<const Variant> sources{};

  /// How many contributions a receive or a local step folds into one.
  [[nodiscard]] std::size_t operands() const {
    return peers.size() + (own ? 1 : 0) + sources.size();
  }
  /// How many chunks the step moves to or from each peer, or makes.
  [[nodiscard]] std::uint64_t chunk_count() const {
    std::uint64_t count = 0;
    for (const ChunkRange& range : chunks) count += range.count;
    return count;
  }
  /// Calls f(variant) for each variant that the rank itself reads, in order.
  template <class F>
  void for_each_read(F f) const {
    if (kind == Kind::send) f(variant);
    if (kind == Kind::receive && own) f(own_variant);
    for (const Variant source : sources) f(source);
  }
  /// Whether it makes a version of the chunks, and does not just hand one on.
  [[nodiscard]] bool makes() const { return kind != Kind::send; }
};

[[nodiscard]] TUTTI_API bool operator==(const Step& a, const Step& b);

/// One rank's part in a collective: its sends, receives and local steps, in order.
///
/// A value without pointers, sockets or clocks. It names chunks, not buffers: where the versions of
/// a chunk stand in memory follows from the program (see placement.hpp). Rounds are for people and
/// for counting; what may run at once follows from what the steps read and write. The k-th send
/// from a to b meets the k-th receive on b from a: order is the only tag. In a round messages come
/// first and local steps after them, one after the other.
///
/// A program may say anything, also nonsense: verify() is the judge of it.
class TUTTI_API Program {
 public:
  /// A program with no steps yet, of a schedule that takes `rounds` rounds.
  explicit Program(std::uint32_t rounds = 0) : rounds_(rounds) {}

  /// Sends `chunks` to one peer, or to several.
  void send(std::uint32_t round, Rank peer, std::span<const ChunkRange> chunks,
            Variant variant = {});
  void send(std::uint32_t round, std::span<const Rank> peers, std::span<const ChunkRange> chunks,
            Variant variant = {});
  void send(std::uint32_t round, Rank peer, ChunkRange chunks, Variant variant = {});

  /// Receives `chunks` from `peer` in place of what the rank had.
  void receive(std::uint32_t round, Rank peer, std::span<const ChunkRange> chunks,
               Variant variant = {});
  void receive(std::uint32_t round, Rank peer, ChunkRange chunks, Variant variant = {});

  /// Receives `chunks` from each of `peers` and folds them with the rank's own, which stands after
  /// the first `own` of them.
  void receive_reduce(std::uint32_t round, std::span<const Rank> peers, std::uint32_t own,
                      std::span<const ChunkRange> chunks);

  /// Copies a variant of `chunks` to another.
  void copy(std::uint32_t round, ChunkRange chunks, Variant from, Variant to);
  /// Folds variants of `chunks`, in this order, into one, which may be one of them.
  void reduce(std::uint32_t round, ChunkRange chunks, std::span<const Variant> sources, Variant to);

  /// Throws invalid_argument for a local step of more than 65,535 sources.
  void append(const Step& step);
  /// All steps of another program, `later` rounds later.
  void append(const Program& other, std::uint32_t later);
  void reserve(std::size_t steps);

  /// How many rounds the whole schedule takes, also those in which this rank rests.
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// The highest variant that any step names.
  [[nodiscard]] Variant last_variant() const { return last_variant_; }
  /// Whether it needs more than sends and receives of the chunks themselves.
  [[nodiscard]] bool is_plain() const { return sources_.empty() && last_variant_ == Variant{}; }
  /// Invalidated by appending.
  [[nodiscard]] Step operator[](std::size_t i) const;

  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

  friend bool operator==(const Program&, const Program&) = default;

 private:
  /// A step whose peers and chunks stand in the pools below, from where the previous line's end.
  struct Line {
    std::uint32_t round;
    std::uint32_t peers_end;
    std::uint32_t chunks_end;
    std::uint32_t own;    // Receive: as in Step. Local: where its sources end in their pool.
    std::uint16_t aside;  // Receive: the variant of its own. Local: how many sources.
    Variant variant;
    Step::Kind kind;
    bool has_own;

    friend bool operator==(const Line&, const Line&) = default;
  };

  std::uint32_t rounds_;
  Variant last_variant_{};
  std::vector<Line> lines_;
  std::vector<Rank> peers_;
  std::vector<ChunkRange> chunks_;
  std::vector<Variant> sources_;
};

// Here, as whoever reads programs of millions of steps asks for little else.
inline Step Program::operator[](std::size_t i) const {
  const Line& line = lines_[i];
  const std::size_t peers_begin = i == 0 ? 0 : lines_[i - 1].peers_end;
  const std::size_t chunks_begin = i == 0 ? 0 : lines_[i - 1].chunks_end;
  Step step{.kind = line.kind,
            .variant = line.variant,
            .round = line.round,
            .peers = {peers_.data() + peers_begin, line.peers_end - peers_begin},
            .own = line.has_own ? std::optional(line.own) : std::nullopt,
            .chunks = {chunks_.data() + chunks_begin, line.chunks_end - chunks_begin}};
  if (line.kind == Step::Kind::local) {
    step.sources = {sources_.data() + line.own - line.aside, line.aside};
  } else {
    step.own_variant = Variant{line.aside};
  }
  return step;
}

class Program::Iterator {
 public:
  Iterator(const Program& program, std::size_t at) : program_(&program), at_(at) {}

  [[nodiscard]] Step operator*() const { return (*program_)[at_]; }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  const Program* program_;
  std::size_t at_;
};

inline Program::Iterator Program::begin() const { return {*this, 0}; }
inline Program::Iterator Program::end() const { return {*this, size()}; }

}  // namespace tutti
