#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <tutti/contract.hpp>
#include <tutti/program.hpp>

namespace tutti {

/// Which step of a rank's program wrote a chunk last, asked step by step.
///
/// Where steps name many chunks at once, as halving-doubling does, what is remembered is not each
/// chunk but each piece between two places at which some step begins or ends: a rank's part then
/// takes time by its steps and not by the chunks of all ranks.
class LastWriters {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// Forgets all and gets ready for another program.
  void begin(const Program& program, const Contract& contract);

  /// Calls see(writer) for each piece of the range that was written before, maybe with the same
  /// writer again, and then, if `writer` is not none, notes it as the last.
  template <class See>
  void visit(const ChunkRange& range, std::uint32_t writer, const See& see) {
    const std::size_t last = place(range.end());
    for (std::size_t i = place(range.first); i < last; ++i) {
      Note& note = notes_[i];
      if (note.program == program_) see(note.writer);
      if (writer != none) note = {.program = program_, .writer = writer};
    }
  }

 private:
  struct Note {
    std::uint32_t program = 0;  // Notes of earlier programs count for nothing.
    std::uint32_t writer = none;
  };

  [[nodiscard]] std::size_t place(Chunk chunk) const;

  std::uint32_t program_ = 0;
  bool by_chunk_ = true;
  std::vector<Chunk> borders_;  // Sorted; unless by chunk.
  std::vector<Note> notes_;
};

}  // namespace tutti
