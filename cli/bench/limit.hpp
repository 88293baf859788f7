#pragma once

#include <cstdint>

#include <tutti/collective.hpp>

#include "cli/bench/machine.hpp"

namespace tutti::cli {

/// The least seconds that a collective can take on this machine, if `bytes` is the size of the
/// larger buffer. Over TCP if that was measured, else through memory. The formulas are in
/// docs/performance.md.
[[nodiscard]] double limit_seconds(const BenchMachine& machine, Collective collective,
                                   std::uint32_t ranks, std::uint64_t bytes);

}  // namespace tutti::cli
