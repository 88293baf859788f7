#pragma once

#include <cstdint>
#include <vector>

#include <tutti/schedule/schedule.hpp>

/// Schedules with local steps and with several variants of a chunk on a rank, which the table has
/// none of.
namespace tutti::test {

/// An allreduce on a line: ranks carry the values of those behind them beside their own to rank 0,
/// which folds them all in one local step and sends the sum back.
[[nodiscard]] Schedule relay_allreduce(std::uint32_t ranks);

/// A ring reduce_scatter that carries the sums of others in a variant and leaves each rank's own
/// data as it is.
[[nodiscard]] Schedule carrying_ring(std::uint32_t ranks);

/// An allreduce in which each rank gathers what others have of its block in a variant for each of
/// them, folds these locally, and sends the sum to all.
[[nodiscard]] Schedule gathering_mesh(std::uint32_t ranks);

/// An alltoall that receives into a variant and copies it to its place.
[[nodiscard]] Schedule copying_alltoall(std::uint32_t ranks);

/// A broadcast of two chunks down a chain in which every rank sends a copy.
[[nodiscard]] Schedule copying_chain(std::uint32_t ranks, std::uint32_t root);

/// All of them.
[[nodiscard]] std::vector<Schedule> variant_schedules(std::uint32_t ranks);

}  // namespace tutti::test
