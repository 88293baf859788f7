#pragma once

#include <tutti/schedule/algorithm.hpp>

namespace tutti::cli {

/// Builds the schedule of an algorithm for all ranks. Throws unsupported, before it builds
/// anything, if the schedule does not fit into the memory of this machine.
[[nodiscard]] Schedule built_schedule(const Algorithm& algorithm, const Problem& problem);

}  // namespace tutti::cli
