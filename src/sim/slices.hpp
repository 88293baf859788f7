#pragma once

#include <cstdint>

#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

namespace tutti {

/// A schedule whose chunks are cut into equal numbers of pieces, and whose steps move slices of
/// several pieces. Each slice is reduced and forwarded when it arrives, as in the executor.
struct Slices {
  ScheduleSource source;
  Layout layout;
};

/// Cuts steps into steps of at most `slice` bytes. The result refers to `source`, which must
/// outlive it. Requires: slice > 0. Throws invalid_argument if there would be too many pieces.
[[nodiscard]] Slices cut_into_slices(const ScheduleSource& source, const Layout& layout,
                                     std::uint64_t slice);

}  // namespace tutti
