#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

#include "cli/measure/machine.hpp"

namespace tutti::measure {

/// Measures plain TCP sockets over the loopback interface between as many threads as there are
/// ranks, or cores if these are fewer. The best of several ways to use the sockets.
[[nodiscard]] Machine::Loopback measure_loopback(std::uint32_t ranks,
                                                 const std::vector<cpu_set_t>& cores);

}  // namespace tutti::measure
