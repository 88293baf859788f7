#pragma once

#include <cstdint>
#include <string>

#include <tutti/schedule/placement.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti::test {

/// Runs a schedule on random inputs in memory laid out by place(): round by round, and the steps of
/// a round in random order, because they may run concurrently. Copies that may be made at any time
/// are made at a random time. Returns the error, or an empty text if the outputs are right.
/// Requires: every send meets a receive of the same chunks in the same round.
[[nodiscard]] std::string fault_in_memory(const Schedule& schedule, Aliasing aliasing,
                                          std::uint64_t seed);

}  // namespace tutti::test
