#pragma once

#include <vector>

#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/symbols.hpp>

#include "schedule/messages.hpp"
#include "verify/findings.hpp"
#include "verify/memory.hpp"

namespace tutti {

/// All ranks of a schedule, with symbols in their memories instead of bytes.
class SymbolicRun {
 public:
  /// Places every rank's chunks and lets each rank bring its contributions.
  /// Requires: a schedule in which check_form() and check_pairing() find nothing. It and the
  /// messages must outlive the run.
  SymbolicRun(const Schedule& schedule, const Messages& messages, Aliasing aliasing);

  /// Runs one receive together with the sends that it meets, or one local step. Reports reads of
  /// nothing.
  void make(Rank self, std::size_t step, Findings& findings);

  /// What stands in a place of a rank; nothing if nothing was written there.
  /// Requires: the chunk is one that the rank holds or touches, in that variant.
  [[nodiscard]] Symbol at(Rank rank, Buffer buffer, Chunk chunk, Variant variant = {}) const;

  /// Makes the copies that may be made at any time. Call last.
  void copy_aside();

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const Messages& messages() const { return messages_; }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  [[nodiscard]] const Placement& placement(Rank rank) const {
    return ranks_[rank.index()].placement;
  }
  [[nodiscard]] const Memory& memory(Rank rank) const { return ranks_[rank.index()].memory; }

 private:
  struct PerRank {
    Placement placement;
    Memory memory;
    std::vector<Symbol> values;
  };
  /// A walk over the chunks of a step, with the place of each.
  class Walk;

  void copy(PerRank& rank, std::span<const Placement::Copy> copies);

  const Schedule& schedule_;
  const Messages& messages_;
  Symbols symbols_;
  std::vector<PerRank> ranks_;
};

}  // namespace tutti
