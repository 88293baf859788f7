#pragma once

#include <cstdint>

#include "cli/bench/machine.hpp"

namespace tutti::cli {

/// What plain sockets over the loopback interface carry with so many connections at once.
[[nodiscard]] BenchMachine::Loopback measure_loopback(std::uint32_t connections);

}  // namespace tutti::cli
