#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/sim/simulation.hpp>

namespace tutti::cli {

/// An algorithm of the table and the problem to simulate it for.
struct SimEntry {
  const Algorithm* algorithm = nullptr;
  Problem problem{};

  /// With the shape, if the algorithm needs one.
  [[nodiscard]] std::string name() const;
};

/// Shapes for ranks on a network: those that the network has and, with `every`, all of two
/// dimensions.
[[nodiscard]] std::vector<Shape> shapes_on(const Network& network, std::uint32_t ranks,
                                           std::span<const Rank> places, bool every);

/// The algorithm of the table that is fastest on a network.
struct FastestEntry {
  std::string name;
  double seconds = 0;
};

/// Simulates all algorithms of a collective, in every shape, for all ranks of the network. None if
/// all of them are refused, such as those that need more memory than the settings allow.
[[nodiscard]] std::optional<FastestEntry> fastest_entry(const Network& network,
                                                        Collective collective, Rank root,
                                                        std::uint64_t size,
                                                        const SimulationSettings& settings);

}  // namespace tutti::cli
