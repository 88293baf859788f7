#pragma once

#include <cstdint>
#include <string>

#include <tutti/schedule/placement.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti::test {

/// Runs a schedule on random inputs in memory as place() lays it out: round by round, and what is
/// in one round in a random order, because it may run at once. Copies that may be made at any time
/// are made at a random time. What went wrong, or empty if the outputs are right.
/// Requires: every send meets a receive of the same chunks in the same round.
[[nodiscard]] std::string fault_in_memory(const Schedule& schedule, Aliasing aliasing,
                                          std::uint64_t seed);

}  // namespace tutti::test
