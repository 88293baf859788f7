#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/sim/simulation.hpp>

#include "sim/event_loop.hpp"
#include "sim/workload.hpp"

namespace tutti {

/// The chain of messages and sums that ended last, each of which had to wait for the one before it.
/// Where one rank was simulated for all `ranks`, `distances` says how far each message goes, and
/// the chain is that which ends at rank 0; else both are empty.
[[nodiscard]] std::vector<Activity> critical_path(const Workload& workload, const EventLoop& loop,
                                                  std::span<const std::uint32_t> distances,
                                                  std::uint32_t ranks);

/// What a message was, and what a sum was.
[[nodiscard]] Activity activity_of_message(const Workload& workload, const EventLoop& loop,
                                           std::uint32_t message);
[[nodiscard]] Activity activity_of_sum(const Workload& workload, const EventLoop& loop,
                                       std::uint32_t fold);

}  // namespace tutti
