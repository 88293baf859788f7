#pragma once

#include <cstdint>

#include "measure/machine.hpp"

namespace tutti::measure {

/// Measures plain TCP sockets over the loopback interface with this many connections at once.
[[nodiscard]] Machine::Loopback measure_loopback(std::uint32_t connections);

}  // namespace tutti::measure
