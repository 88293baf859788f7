#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tutti/network/network.hpp>

#include "synthesis/pace.hpp"
#include "synthesis/rank_graph.hpp"
#include "synthesis/rate.hpp"

namespace tutti::synthesis {

/// A network as the synthesis sees it: without switches, with capacities in trees.
struct RankNetwork {
  RankGraph graph{};
  /// The highest rate at which every source can send to all ranks, in bytes per second.
  double best_rate = 0;
  std::uint32_t trees = 1;  ///< Out of each source.
};

/// The problem: who sends, over which links.
struct Sending {
  const Network& network;
  std::vector<std::uint32_t> sources{};  ///< Ranks, ascending.
  bool reversed = false;                 ///< All links turned round.
};

/// Without `count_trees`, a network without switches gets no capacities. Requires: the network is
/// valid and has at least two ranks.
[[nodiscard]] RankNetwork rank_network(const Sending& sending, std::uint32_t most_trees,
                                       bool count_trees, const Pace& pace);

}  // namespace tutti::synthesis
