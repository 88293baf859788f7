#pragma once

#include <tutti/schedule/algorithm.hpp>

namespace tutti::cli {

/// The schedule of an algorithm for all ranks. Throws unsupported, before anything is built, if it
/// cannot fit into the memory of this machine.
[[nodiscard]] Schedule built_schedule(const Algorithm& algorithm, const Problem& problem);

}  // namespace tutti::cli
