#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// The step of a rank's program that wrote a chunk last.
///
/// If steps have long chunk ranges, as in halving-doubling, one entry is kept per piece written by
/// one step instead of one per chunk. The time then depends on the number of steps of the rank, not
/// on the number of chunks.
class LastWriters {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// Clears everything and prepares for another program.
  void begin(const Program& program, const Contract& contract);
  /// The same for a program that writes few chunks.
  void begin_with_few();

  /// Calls see(writer) for each piece of the range that has a writer, possibly several times with
  /// the same writer. Then makes `writer` the last writer of the range, unless it is none.
  template <class See>
  void visit(const ChunkRange& range, std::uint32_t writer, const See& see) {
    by_chunk_ ? visit_chunks(range, writer, see) : visit_pieces(range, writer, see);
  }

 private:
  struct Note {
    std::uint32_t program = 0;  // Entries of earlier programs are ignored.
    std::uint32_t writer = none;
  };

  /// Consecutive chunks with one last writer. The piece begins where the one before ends.
  struct Piece {
    Chunk end{};
    std::uint32_t writer = none;
  };

  template <class See>
  void visit_chunks(const ChunkRange& range, std::uint32_t writer, const See& see) {
    for (std::uint64_t i = range.first.index(); i < range.end().index(); ++i) {
      Note& note = notes_[i];
      if (note.program == program_) see(note.writer);
      if (writer != none) note = {.program = program_, .writer = writer};
    }
  }

  template <class See>
  void visit_pieces(const ChunkRange& range, std::uint32_t writer, const See& see) {
    if (range.count == 0) return;
    const std::size_t first = piece_of(range.first);
    std::size_t last = first;
    while (true) {
      if (pieces_[last].writer != none) see(pieces_[last].writer);
      if (pieces_[last].end >= range.end()) break;
      ++last;
    }
    if (writer != none) overwrite(first, last, range, writer);
  }

  [[nodiscard]] std::size_t piece_of(Chunk chunk) const;
  void overwrite(std::size_t first, std::size_t last, const ChunkRange& range,
                 std::uint32_t writer);

  std::uint32_t program_ = 0;
  bool by_chunk_ = true;
  std::vector<Note> notes_;    // Indexed by chunk; unused if `pieces_` is used.
  std::vector<Piece> pieces_;  // In ascending order; the last one has no end.
};

}  // namespace tutti
