#pragma once

#include <tutti/schedule/placement.hpp>
#include <tutti/schedule/program.hpp>

#include "verify/findings.hpp"
#include "verify/memory.hpp"

namespace tutti {

/// Finds steps of one rank that are in the same round, and so may run concurrently, although one
/// writes bytes that another touches.
void check_races(const Program& program, const Placement& placement, const Memory& memory,
                 Rank self, Findings& findings);

}  // namespace tutti
