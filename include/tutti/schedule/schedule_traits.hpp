#pragma once

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// Requirements of a schedule at run time, besides its steps. Derived from the whole schedule, so
/// that all ranks get the same answer.
struct ScheduleTraits {
  /// Some rank may keep chunks in internal memory, in place or out of place. Long calls are then
  /// split into parts, so that this memory stays small.
  bool keeps_data = false;
  /// The size of that memory, as a multiple of the rank's data: two, unless the schedule has
  /// variants of chunks.
  std::uint32_t copies = 2;
  /// In an alltoall, some rank forwards blocks between two other ranks. It must know their lengths,
  /// which it does not in a call with counts.
  bool needs_counts = false;
  /// Some message carries several chunks, so messages cannot be cut into segments.
  bool joins_chunks = false;
  /// Some rank sends several messages to the same peer. Long messages are then cut into segments,
  /// which follow each other through the rounds in a pipeline: on all ranks, since a rank that
  /// takes a message as a whole would wait for segments that its peer holds back.
  bool repeats_pairs = false;
  /// Every element is one fold of all contributions in order of rank, as Reproducible::order
  /// requires. Set by verify(), not by traits_of().
  bool folds_in_rank_order = false;

  friend bool operator==(const ScheduleTraits&, const ScheduleTraits&) = default;
};

/// Derives the traits from the steps. Requires: every chunk of the programs is below
/// contract.chunks.
[[nodiscard]] TUTTI_API ScheduleTraits traits_of(const Schedule& schedule);

}  // namespace tutti
