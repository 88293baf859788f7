#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tutti/counters.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/placement.hpp>
#include <tutti/schedule/program.hpp>

#include "exec/blueprint.hpp"

namespace tutti {

/// One rank's program compiled for buffers of a known size: operations with byte offsets, and the
/// dependences of each byte.
///
/// Every operation moves its bytes in order, as a stream. A piece may advance as far as the
/// operations that it waits for have advanced: so the slices of a message are pipelined through a
/// rank.
struct Plan {
  /// Some entries of a vector, without `end`.
  struct Range {
    std::uint32_t begin;
    std::uint32_t end;

    [[nodiscard]] std::uint32_t size() const { return end - begin; }
    template <class T>
    [[nodiscard]] std::span<const T> of(const std::vector<T>& all) const {
      return {all.data() + begin, size()};
    }
  };
  /// A dependence of a piece's bytes on bytes of another operation.
  struct Wait {
    std::uint32_t operation;
    std::int64_t shift;  ///< Byte x of this operation waits for byte x + shift of the other.
  };
  /// Bytes that are contiguous in memory.
  struct Piece {
    std::size_t begin;  ///< In the stream of the operation.
    std::size_t bytes;
    Buffer from;  ///< Send: the data. Receive: the rank's own operand. Local: the first operand.
    Buffer to;    ///< Receive and local: the destination.
    std::size_t from_offset;
    std::size_t to_offset;
    Range waits;
  };
  struct Operation {
    Step::Kind kind;
    std::uint32_t round;
    /// Operations are in order of time, and both ends of a message have the same. The round, unless
    /// messages are cut into segments.
    std::uint32_t time;
    std::uint32_t segment;  ///< Of the message: see PlanSize::segment.
    bool begins_message;    ///< False if it is a later segment of a message.
    std::optional<std::uint32_t> own;
    std::size_t bytes;  ///< To or from each peer, or the result of a local operation.
    Range peers;        ///< In `peers` and `ranks`.
    Range pieces;
    /// For a receive: the send that forwards exactly its result, if there is one.
    std::optional<std::uint32_t> forward{};
    /// Every receiver of the forward is also a sender of this receive.
    bool answers = false;
    /// For a send: the entry of `exposures` that goes with it, if there is one.
    std::optional<std::uint32_t> exposes{};
    /// For a local operation: its number of operands. The sources of its pieces follow each other
    /// in `sources`, from `first_source` on.
    std::uint32_t operands = 0;
    std::uint32_t first_source = 0;
  };
  /// The location of an operand of a local operation.
  struct Source {
    Buffer buffer;
    std::size_t offset;
  };
  /// A peer of an operation. `turn` is the operation's ordinal among those with the same peer and
  /// direction.
  struct Peer {
    Rank rank;
    std::uint32_t turn;
  };
  struct Copy {
    Buffer from;
    Buffer to;
    std::size_t from_offset;
    std::size_t to_offset;
    std::size_t bytes;
  };

  /// The destination of a receive that its sender may write to by itself, after it has got the send
  /// that says so. See Port::Window.
  struct Exposure {
    std::uint32_t receive;
    Rank peer;
    std::size_t before;  ///< Bytes that the plan receives from the peer before it.
    /// If set, byte x may be written once the peer has consumed byte x + shift of the send.
    std::optional<std::int64_t> shift;
  };

  /// An operation of a plan of rather short messages, in an order in which they can be run one
  /// after another.
  struct OrderedStep {
    std::uint32_t operation;
    // What is read for every message, from the operation and its only piece:
    std::size_t bytes;
    Range peers;
    Buffer buffer;       ///< Of the data of a send, or the destination of a receive.
    std::size_t offset;  ///< In that buffer.
    bool exposes;        ///< A window goes with this send.
    /// How many steps from this one on are sends that are made together: no peer occurs twice. 0
    /// for a receive.
    std::uint32_t sends = 0;
    /// It overwrites data of earlier sends, which must have been released.
    bool overwrites_sent = false;
    /// A receive: its result may be forwarded at once, since no other send to those peers comes
    /// before that.
    bool forwards = false;
    /// The window that goes with this send, or with the forward of this receive: where its bytes
    /// are in the stream from the peer, counted from those not received by then.
    std::size_t window_at = 0;
  };
  /// All that a plan exchanges with a peer.
  struct Traffic {
    Rank peer;
    PeerCounters counts;  ///< Each operation of `order` counts as one slice.
  };

  [[nodiscard]] std::span<const Rank> ranks_of(std::uint32_t operation) const {
    return operations[operation].peers.of(ranks);
  }

  std::vector<Operation> operations;
  std::vector<Peer> peers;
  std::vector<Rank> ranks;  ///< The ranks of `peers`.
  std::vector<Piece> pieces;
  std::vector<Wait> waits;
  std::vector<Source> sources;
  std::vector<Exposure> exposures;
  std::vector<Copy> before;  ///< Copies made before the first operation.
  std::vector<Copy> aside;   ///< Copies that no operation depends on, made while waiting.
  /// True if a peer is sent to, or received from, more than once, so that turns matter.
  bool has_turns = false;
  /// All operations, if no message is longer than PlanSize::in_order_to; else empty.
  std::vector<OrderedStep> order;
  /// What running `order` adds to the counters.
  std::vector<Traffic> traffic;
  std::size_t scratch_bytes = 0;
  std::size_t spare_bytes = 0;
};

/// A range of every chunk, in elements. A long call is run as several short ones, so that scratch
/// memory can be shorter than the data.
struct ElementRange {
  std::uint64_t begin = 0;
  std::uint64_t length = ~std::uint64_t{0};
};

/// The size of the data of a plan. Layouts count elements of `element_bytes`.
struct PlanSize {
  const Layout& layout;
  std::size_t element_bytes;
  /// The lane of each rank (see Port::lanes()); empty if all are in one lane.
  std::span<const std::uint32_t> lanes{};
  ElementRange stretch{};
  /// Messages longer than this many elements of a chunk are cut into segments: segment s of a
  /// message of round r has the time s + r·skew. So a segment passes through all rounds while it is
  /// in the cache, and the result of a fold is forwarded in the same pass. Ranks that exchange
  /// several messages must cut them alike. 0: no segments.
  std::uint64_t segment = 0;
  /// Plans of messages of at most this many bytes are run one operation after another; pipelines of
  /// segments only if they are shorter than a page.
  std::size_t in_order_to = usual_in_order_to;

  static constexpr std::size_t usual_in_order_to = std::size_t{1} << 16;
};

/// A plan of a program that is used for one size only.
struct PlanRequest {
  const Program& program;
  const Contract& contract;
  Rank self;
  Aliasing aliasing;
  const Layout& layout;
  std::size_t element_bytes;
  std::span<const std::uint32_t> lanes{};
  ElementRange stretch{};
  std::uint64_t segment = 0;  ///< As in PlanSize, like the fields above.
  std::size_t in_order_to = PlanSize::usual_in_order_to;
};

/// Fill in Operation::forward, Plan::exposures and Plan::order, in this order. For compile().
void find_forwards(Plan& plan);
void find_exposures(Plan& plan);
void find_order(Plan& plan, std::size_t longest);

/// Throws invalid_argument for an alltoall in place whose blocks differ in size: they cannot swap
/// places.
[[nodiscard]] Plan compile(const Blueprint& blueprint, const PlanSize& size);
[[nodiscard]] Plan compile(const PlanRequest& request);

}  // namespace tutti
