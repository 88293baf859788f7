#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/schedule/algorithm.hpp>

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

}  // namespace tutti::cli
