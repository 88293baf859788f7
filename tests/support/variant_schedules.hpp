#pragma once

#include <cstdint>
#include <vector>

#include <tutti/schedule/schedule.hpp>

/// Schedules with local steps and with several variants of a chunk on a rank. The table has none.
namespace tutti::test {

/// An allreduce on a line: ranks forward the values of the ranks behind them, beside their own, to
/// rank 0, which folds them all in one local step and sends the sum back.
[[nodiscard]] Schedule relay_allreduce(std::uint32_t ranks);

/// A ring reduce_scatter that keeps the sums of others in a variant and does not change each rank's
/// own data.
[[nodiscard]] Schedule carrying_ring(std::uint32_t ranks);

/// An allreduce in which each rank gathers the contributions to its block, one variant for each
/// other rank, folds these locally, and sends the sum to all.
[[nodiscard]] Schedule gathering_mesh(std::uint32_t ranks);

/// An alltoall that receives into a variant and copies it to its place.
[[nodiscard]] Schedule copying_alltoall(std::uint32_t ranks);

/// A broadcast of two chunks down a chain in which every rank sends a copy.
[[nodiscard]] Schedule copying_chain(std::uint32_t ranks, std::uint32_t root);

/// All of them.
[[nodiscard]] std::vector<Schedule> variant_schedules(std::uint32_t ranks);

}  // namespace tutti::test
