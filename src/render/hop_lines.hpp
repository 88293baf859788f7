#pragma once

#include <vector>

#include "render/hop_graph.hpp"

namespace tutti::render {

/// A line of a drawing of hops.
struct HopLine {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Hop hop{};
  bool both_ways = false;  ///< `to` sends `from` as much, and the same happens to it.
};

/// One line for each hop; two hops there and back that carry the same are one line.
[[nodiscard]] std::vector<HopLine> hop_lines(const HopGraph& graph);

}  // namespace tutti::render
