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

/// One step of a rank's program. A view into that program.
///
/// A send passes the rank's current version of some chunks to each peer. A receive makes a new
/// version of some chunks: the data from one peer, or a fold over the data from several peers and,
/// if `own` is set, a version that the rank had. A local step makes a version from the rank's own
/// data: a copy of one variant, or a fold over several. The order of operands in a fold is fixed,
/// because floating-point sums depend on it.
struct Step {
  enum class Kind : std::uint8_t { send, receive, local };

  Kind kind = Kind::send;
  /// Send: the variant to send. Receive and local: the variant to make.
  Variant variant{};
  std::uint32_t round = 0;
  /// Send: in the order in which the messages leave. Receive: in the order of the fold. Local:
  /// none.
  std::span<const Rank> peers{};
  /// Receive: the number of peers' contributions before the rank's own in the fold. No value if the
  /// data replaces the own version.
  std::optional<std::uint32_t> own{};
  /// Receive with `own`: the variant of the rank's own operand.
  Variant own_variant{};
  std::span<const ChunkRange> chunks{};
  /// Local: the variant to copy, or the variants to fold in this order.
  std::span<const Variant> sources{};

  /// The number of contributions that a receive or a local step folds into one.
  [[nodiscard]] std::size_t operands() const {
    return peers.size() + (own ? 1 : 0) + sources.size();
  }
  /// The number of chunks that the step sends to or receives from each peer, or makes.
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
  /// True if the step makes a version of the chunks; false for a send.
  [[nodiscard]] bool makes() const { return kind != Kind::send; }
};

[[nodiscard]] TUTTI_API bool operator==(const Step& a, const Step& b);

/// The program of one rank in a collective: its sends, receives and local steps, in order.
///
/// A value without pointers, sockets or clocks. It names chunks, not buffers: the buffers follow
/// from the program (see placement.hpp). Rounds are for people and for counting; which steps may
/// run concurrently follows from what the steps read and write. The k-th send from a to b meets the
/// k-th receive on b from a: order is the only tag. Within a round messages come first, followed by
/// local steps, one after the other.
///
/// A program is not checked when it is built: verify() checks it.
class TUTTI_API Program {
 public:
  /// An empty program of a schedule with `rounds` rounds.
  explicit Program(std::uint32_t rounds = 0) : rounds_(rounds) {}

  /// Sends `chunks` to one peer, or to several.
  void send(std::uint32_t round, Rank peer, std::span<const ChunkRange> chunks,
            Variant variant = {});
  void send(std::uint32_t round, std::span<const Rank> peers, std::span<const ChunkRange> chunks,
            Variant variant = {});
  void send(std::uint32_t round, Rank peer, ChunkRange chunks, Variant variant = {});

  /// Receives `chunks` from `peer` and replaces the rank's version.
  void receive(std::uint32_t round, Rank peer, std::span<const ChunkRange> chunks,
               Variant variant = {});
  void receive(std::uint32_t round, Rank peer, ChunkRange chunks, Variant variant = {});

  /// Receives `chunks` from each of `peers` and folds them with the rank's own version, which comes
  /// after the first `own` of them.
  void receive_reduce(std::uint32_t round, std::span<const Rank> peers, std::uint32_t own,
                      std::span<const ChunkRange> chunks);

  /// Copies one variant of `chunks` to another.
  void copy(std::uint32_t round, ChunkRange chunks, Variant from, Variant to);
  /// Folds variants of `chunks`, in this order, into `to`, which may be one of the sources.
  void reduce(std::uint32_t round, ChunkRange chunks, std::span<const Variant> sources, Variant to);

  /// Throws invalid_argument for a local step with more than 65,535 sources.
  void append(const Step& step);
  /// Appends all steps of another program, shifted by `later` rounds.
  void append(const Program& other, std::uint32_t later);
  void reserve(std::size_t steps);

  /// The number of rounds of the whole schedule, including those in which this rank is idle.
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// The highest variant that any step names.
  [[nodiscard]] Variant last_variant() const { return last_variant_; }
  /// True if it has only sends and receives of variant 0.
  [[nodiscard]] bool is_plain() const { return sources_.empty() && last_variant_ == Variant{}; }
  /// Invalidated by appending.
  [[nodiscard]] Step operator[](std::size_t i) const;

  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

  friend bool operator==(const Program&, const Program&) = default;

 private:
  /// A step. Its peers and chunks are in the pools below and start at the end of the previous
  /// line's.
  struct Line {
    std::uint32_t round;
    std::uint32_t peers_end;
    std::uint32_t chunks_end;
    std::uint32_t own;    // Receive: as in Step. Local: the end of its sources in the pool.
    std::uint16_t aside;  // Receive: the variant of its own operand. Local: the number of sources.
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

// Inline, because code that reads programs of millions of steps spends most of its time here.
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
