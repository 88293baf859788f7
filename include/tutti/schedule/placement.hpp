#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// A buffer of a rank that can hold a chunk.
enum class Buffer : std::uint8_t {
  input,    ///< Of the caller, never written.
  output,   ///< Of the caller.
  scratch,  ///< Internal: forwarded chunks, partial sums and variants other than 0.
  spare,    ///< Internal: for a chunk that needs a second scratch place.
};

[[nodiscard]] TUTTI_API std::string_view name(Buffer buffer);

/// Whether the input and output buffers of a call overlap.
enum class Aliasing : std::uint8_t {
  out_of_place,
  /// Input and output are the same buffer. Each output chunk overwrites the same chunk of the
  /// input; in alltoall it overwrites the block for its sender.
  in_place,
};

/// The buffers in which the steps of a program read and write their chunks.
///
/// A program names chunks, and a chunk has a sequence of versions; a placement assigns a buffer to
/// every version. The last version of an output chunk is in the output. An earlier version is there
/// too, unless it is still being sent while its successor is written; then it is in scratch. This
/// avoids unnecessary copies. It applies to variant 0 only. Any other variant of a chunk has one
/// place in scratch for all its versions.
class TUTTI_API Placement {
 public:
  /// Some chunks of a step. A send reads them in `from`. A receive writes them in `to`; if it folds
  /// in the rank's own version, it reads that in `from`. A local step writes in `to`; if variant 0
  /// is among its sources, it reads that in `from`.
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
  /// Copies that must run before the first step.
  [[nodiscard]] std::span<const Copy> before() const { return before_; }
  /// Copies of input chunks whose result no step reads. They may run at any time.
  [[nodiscard]] std::span<const Copy> aside() const { return aside_; }

 private:
  friend Placement place(const Program&, const Contract&, Rank, Aliasing);

  std::vector<Piece> pieces_;
  std::vector<std::size_t> ends_;
  std::vector<Copy> before_;
  std::vector<Copy> aside_;
};

/// Computes the placement. Requires: every chunk of the program is below contract.chunks and self
/// is below contract.ranks.
[[nodiscard]] TUTTI_API Placement place(const Program& program, const Contract& contract, Rank self,
                                        Aliasing aliasing);

}  // namespace tutti
