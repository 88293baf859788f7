#pragma once

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// What running a schedule asks for besides its steps. It follows from the whole schedule, so that
/// all ranks come to the same answer.
struct ScheduleTraits {
  /// Some rank may keep chunks in memory of tutti's own, in place or out of place. Long calls are
  /// then run in parts, so that this memory stays small.
  bool keeps_data = false;
  /// How many times its data a rank may then keep: two, unless the schedule has variants of chunks.
  std::uint32_t copies = 2;
  /// In an alltoall, some rank passes on blocks between two other ranks. It must know how long they
  /// are, which it does not in a call with counts.
  bool needs_counts = false;
  /// Every element is one fold of all contributions in order of rank, as Reproducible::order
  /// demands. What verify() finds; traits_of() does not.
  bool folds_in_rank_order = false;

  friend bool operator==(const ScheduleTraits&, const ScheduleTraits&) = default;
};

/// Derives the traits from the steps. Requires: every chunk of the programs is below
/// contract.chunks.
[[nodiscard]] TUTTI_API ScheduleTraits traits_of(const Schedule& schedule);

}  // namespace tutti
