#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/sim/simulation.hpp>

#include "sim/event_loop.hpp"
#include "sim/workload.hpp"

namespace tutti {

/// The chain of messages and reductions that ended last, each of which waited for the one before
/// it. If some ranks were simulated for all `ranks`, `receivers` holds the actual receiver of each
/// message, see Workload::of_first_ranks(); the chain ends at one of the simulated ranks. Otherwise
/// `receivers` is empty.
[[nodiscard]] std::vector<Activity> critical_path(const Workload& workload, const EventLoop& loop,
                                                  std::span<const std::uint32_t> receivers,
                                                  std::uint32_t ranks);

/// The record of a message or of a reduction.
[[nodiscard]] Activity activity_of_message(const Workload& workload, const EventLoop& loop,
                                           std::uint32_t message);
[[nodiscard]] Activity activity_of_sum(const Workload& workload, const EventLoop& loop,
                                       std::uint32_t fold);

}  // namespace tutti
