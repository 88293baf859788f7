#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/placement.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// One rank's program made ready to run on buffers of a known size: steps with byte offsets, and
/// what each byte waits for.
///
/// Every operation moves its bytes in order, as a stream, so that any prefix of it can be done
/// before the rest. A piece may go on as far as what it waits for has got: that is how slices of a
/// message follow each other through a rank.
struct Plan {
  /// The bytes from `base` on of a piece's bytes wait for the same bytes of another operation.
  struct Wait {
    std::uint32_t operation;
    std::int64_t shift;  ///< Byte x of this operation waits for byte x + shift of the other.
  };
  /// Bytes that stand together in memory.
  struct Piece {
    std::size_t begin;  ///< In the stream of the operation.
    std::size_t bytes;
    Buffer from;  ///< Send: what is sent. Receive: the own operand of a fold. Local: the first.
    Buffer to;    ///< Receive and local: where the result goes.
    std::size_t from_offset;
    std::size_t to_offset;
    std::uint32_t waits_end;  ///< Its waits stand before this in `waits`, after those of the last.
  };
  struct Operation {
    Step::Kind kind;
    std::uint32_t round;
    std::optional<std::uint32_t> own;
    std::size_t bytes;         ///< To or from each peer, or made of what is there.
    std::uint32_t peers_end;   ///< Its peers stand before this in `peers`, after those of the last,
    std::uint32_t pieces_end;  ///< and its pieces likewise.
    /// Of a receive: the send that passes on just what it has made, byte for byte, if there is one.
    std::optional<std::uint32_t> forward{};
    /// Of a local operation: how many sources it has. Those of its pieces stand one after the other
    /// in `sources`, from here on.
    std::uint32_t operands = 0;
    std::uint32_t first_source = 0;
  };
  /// Where an operand of a local operation begins.
  struct Source {
    Buffer buffer;
    std::size_t offset;
  };
  /// A peer of an operation, and the how-manieth it is between the two ranks in its direction.
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

  std::vector<Operation> operations;
  std::vector<Peer> peers;
  std::vector<Piece> pieces;
  std::vector<Wait> waits;
  std::vector<Source> sources;
  std::vector<Copy> before;
  std::vector<Copy> aside;
  /// Whether some peer is sent to, or received from, more than once, so that turns matter.
  bool has_turns = false;
  std::size_t scratch_bytes = 0;
  std::size_t spare_bytes = 0;
};

/// A part of every chunk, in elements: a long call is run as several short ones, so that scratch
/// need not be as long as the data.
struct ElementRange {
  std::uint64_t begin = 0;
  std::uint64_t length = ~std::uint64_t{0};
};

/// What a plan is made of. Chunks are laid out in elements of `element_bytes`.
struct PlanRequest {
  const Program& program;
  const Contract& contract;
  Rank self;
  Aliasing aliasing;
  const Layout& layout;
  std::size_t element_bytes;
  /// Which peers can be sent to at once (see Port::lane), by rank; empty if all can.
  std::span<const std::uint32_t> lanes{};
  ElementRange stretch{};
};

/// Throws invalid_argument for an alltoall in place whose blocks differ in size: they could not
/// take each other's place.
[[nodiscard]] Plan compile(const PlanRequest& request);

/// A plan that sends to one peer and receives from one, or does one of the two. What is sent is the
/// input, what is received the output.
[[nodiscard]] Plan pair_plan(std::optional<Rank> to, std::size_t sent, std::optional<Rank> from,
                             std::size_t received);

}  // namespace tutti
