#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/sim/simulation.hpp>

#include "sim/event_loop.hpp"
#include "sim/workload.hpp"

namespace tutti {

/// The chain of messages and reductions that ended last, each of which waited for the one before
/// it. If one rank was simulated for all `ranks`, `distances` holds the distance of each message
/// and the chain is the one that ends at rank 0. Otherwise `distances` is empty.
[[nodiscard]] std::vector<Activity> critical_path(const Workload& workload, const EventLoop& loop,
                                                  std::span<const std::uint32_t> distances,
                                                  std::uint32_t ranks);

/// The record of a message or of a reduction.
[[nodiscard]] Activity activity_of_message(const Workload& workload, const EventLoop& loop,
                                           std::uint32_t message);
[[nodiscard]] Activity activity_of_sum(const Workload& workload, const EventLoop& loop,
                                       std::uint32_t fold);

}  // namespace tutti
