#pragma once

#include <vector>

#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/symbols.hpp>

#include "schedule/messages.hpp"
#include "verify/findings.hpp"
#include "verify/memory.hpp"

namespace tutti {

/// The memories of all ranks of a schedule, with symbols instead of bytes.
class SymbolicRun {
 public:
  /// Places the chunks of every rank and fills the inputs with contributions. Requires:
  /// check_form() and check_pairing() find nothing. The schedule and the messages must outlive the
  /// run.
  SymbolicRun(const Schedule& schedule, const Messages& messages, Aliasing aliasing);

  /// Runs one receive together with the matching sends, or one local step. Reports reads of memory
  /// that was never written.
  void make(Rank self, std::size_t step, Findings& findings);

  /// The value in a place of a rank; Symbols::nothing if it was never written. Requires: the rank
  /// holds or touches that variant of the chunk.
  [[nodiscard]] Symbol at(Rank rank, Buffer buffer, Chunk chunk, Variant variant = {}) const;

  /// Makes the copies that may run at any time. Call it last.
  void copy_aside();

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const Messages& messages() const { return messages_; }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  [[nodiscard]] const Placement& placement(Rank rank) const { return ranks_[rank].placement; }
  [[nodiscard]] const Memory& memory(Rank rank) const { return ranks_[rank].memory; }

 private:
  struct PerRank {
    Placement placement;
    Memory memory;
    std::vector<Symbol> values;
  };
  /// Iterates over the chunks of a step and their places.
  class Walk;

  void copy(PerRank& rank, std::span<const Placement::Copy> copies);

  const Schedule& schedule_;
  const Messages& messages_;
  Symbols symbols_;
  std::vector<PerRank> ranks_;
};

}  // namespace tutti
