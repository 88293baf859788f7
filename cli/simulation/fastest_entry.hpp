#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tutti/collective.hpp>
#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>
#include <tutti/sim/simulation.hpp>

#include "cli/simulation/entry.hpp"

namespace tutti::cli {

/// The algorithm of the table that is fastest on a network.
struct FastestEntry {
  SimEntry entry;
  double seconds = 0;
  std::size_t refused = 0;  ///< Algorithms and shapes that were not simulated.
};

/// Simulates all algorithms of a collective, in every shape, for all ranks of the network. Those
/// that need more memory than the settings allow are refused. None if all are.
[[nodiscard]] std::optional<FastestEntry> fastest_entry(const Network& network,
                                                        Collective collective, Rank root,
                                                        std::uint64_t size,
                                                        const SimulationSettings& settings);

}  // namespace tutti::cli
