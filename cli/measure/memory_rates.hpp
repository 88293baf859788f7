#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

#include "cli/measure/machine.hpp"

namespace tutti::measure {

/// Measures with the buffers of this many ranks, of up to `most_bytes` each, and with one thread on
/// each of the cores, or on as many as there are ranks. In order of size; at least one. Data that
/// is smaller is never slower: a figure that says so is noise, and the better one is returned.
[[nodiscard]] std::vector<Machine::Memory> measure_memory(std::uint32_t ranks,
                                                          std::uint64_t most_bytes,
                                                          const std::vector<cpu_set_t>& cores);

}  // namespace tutti::measure
