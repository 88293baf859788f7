#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// Which step of a rank's program wrote a chunk last, asked step by step.
///
/// Where steps name many chunks at once, as halving-doubling does, what is remembered is not each
/// chunk but each piece that one step wrote: a rank's part then takes time by its steps and not by
/// the chunks of all ranks.
class LastWriters {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// Forgets all and gets ready for another program.
  void begin(const Program& program, const Contract& contract);
  /// The same, for chunks of which few are written.
  void begin_with_few();

  /// Calls see(writer) for each piece of the range that was written before, maybe with the same
  /// writer again, and then, if `writer` is not none, notes it as the last.
  template <class See>
  void visit(const ChunkRange& range, std::uint32_t writer, const See& see) {
    by_chunk_ ? visit_chunks(range, writer, see) : visit_pieces(range, writer, see);
  }

 private:
  struct Note {
    std::uint32_t program = 0;  // Notes of earlier programs count for nothing.
    std::uint32_t writer = none;
  };

  /// Neighbouring chunks with one last writer, from the end of the piece before on.
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
  std::vector<Note> notes_;    // By chunk; or else
  std::vector<Piece> pieces_;  // in ascending order, the last without end.
};

}  // namespace tutti
