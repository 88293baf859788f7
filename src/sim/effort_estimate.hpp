#pragma once

#include <cstdint>

#include <tutti/schedule/schedule_source.hpp>

namespace tutti {

/// What it takes to simulate every message of a schedule.
struct EffortEstimate {
  std::uint64_t messages = 0;

  /// Bytes of memory at the peak, and seconds at least.
  [[nodiscard]] double bytes() const;
  [[nodiscard]] double seconds() const;
};

/// Counts the messages of some ranks and scales them up. Reads few programs, so that it is fast for
/// any number of ranks.
[[nodiscard]] EffortEstimate estimate_effort(const ScheduleSource& source);

/// Throws unsupported with the estimate if it exceeds `memory` bytes. 0: no limit.
void require_room(const ScheduleSource& source, std::uint64_t memory);

}  // namespace tutti
