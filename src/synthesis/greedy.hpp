#pragma once

#include <cstdint>
#include <span>

#include "synthesis/pace.hpp"
#include "synthesis/rank_graph.hpp"
#include "synthesis/transfers.hpp"

namespace tutti::synthesis {

/// What the greedy has to distribute.
struct GreedyTask {
  std::vector<std::uint32_t> origins{};
  double bytes = 0;          ///< Of one origin.
  std::uint32_t chunks = 1;  ///< Per origin.
  std::uint64_t seed = 1;
};

/// Fills the time-expanded network edge by edge, after TACOS (Won et al., "TACOS: topology-aware
/// collective algorithm synthesizer", 2024): whenever an edge is idle, it sends a chunk that its
/// receiver lacks. Of several, the one that the fewest ranks have.
[[nodiscard]] Distribution greedy(const RankGraph& graph, const GreedyTask& task, const Pace& pace);

}  // namespace tutti::synthesis
