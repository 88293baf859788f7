#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// Where the bytes of a chunk can stand on a rank.
enum class Buffer : std::uint8_t {
  input,    ///< The caller's, never written.
  output,   ///< The caller's.
  scratch,  ///< tutti's, for chunks on their way, sums not yet whole and other variants.
  spare,    ///< tutti's, where a chunk needs a second scratch place.
};

[[nodiscard]] TUTTI_API std::string_view name(Buffer buffer);

/// How a caller passes its buffers.
enum class Aliasing : std::uint8_t {
  out_of_place,
  /// Input and output are one: each output chunk stands where the same chunk of the input stood,
  /// and in alltoall where the block for its sender stood.
  in_place,
};

/// Where the steps of a program find and leave their chunks.
///
/// A program names chunks and lets each have one version after another; a placement gives every
/// version a place. The last version of an output chunk stands in the output; an earlier one stands
/// there too unless it is still being sent while its successor is written, and then steps aside.
/// So nothing is copied that need not be. All that is for the chunks themselves; any other variant
/// of a chunk has one place of its own in scratch, for all its versions.
class TUTTI_API Placement {
 public:
  /// Some chunks of a step. A send reads them in `from`. A receive writes them in `to` and, if it
  /// folds in the rank's own, reads that in `from`. A local step writes in `to` and reads the
  /// chunks themselves, if they are among its sources, in `from`.
  struct Piece {
    ChunkRange chunks;
    Buffer from;
    Buffer to;

    friend bool operator==(const Piece&, const Piece&) = default;
  };
  /// A copy within the rank.
  using Copy = Piece;

  /// The pieces of step i of the program, in the order of its chunks.
  [[nodiscard]] std::span<const Piece> pieces(std::size_t step) const;
  /// Copies to be made before the first step.
  [[nodiscard]] std::span<const Copy> before() const { return before_; }
  /// Copies that depend on the input alone and that no step needs: to be made at any time.
  [[nodiscard]] std::span<const Copy> aside() const { return aside_; }

 private:
  friend Placement place(const Program&, const Contract&, Rank, Aliasing);

  std::vector<Piece> pieces_;
  std::vector<std::size_t> ends_;
  std::vector<Copy> before_;
  std::vector<Copy> aside_;
};

/// Requires: every chunk of the program is below contract.chunks and self below contract.ranks.
[[nodiscard]] TUTTI_API Placement place(const Program& program, const Contract& contract, Rank self,
                                        Aliasing aliasing);

}  // namespace tutti
