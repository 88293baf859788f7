#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "synthesis/pace.hpp"
#include "synthesis/rank_graph.hpp"
#include "synthesis/transfers.hpp"

namespace tutti::synthesis {

/// What is searched for: `chunks` chunks of every origin, on all ranks.
struct FewestRounds {
  std::span<const std::uint32_t> origins{};
  std::uint32_t chunks = 1;
  double bytes = 0;  ///< Of one origin.
};

/// Finds the distribution with the fewest rounds, in each of which an edge carries as many chunks
/// as it is faster than the slowest edge. Tries every choice that is not dominated by another: of
/// what a rank could receive in a round, less is never better. The entries of SCCL's tables with
/// one round per step (Cai et al., "Synthesizing optimal collective algorithms", 2021) are such
/// distributions.
///
/// No value if time runs out. Throws unsupported for more than 64 chunks in all.
[[nodiscard]] std::optional<Distribution> fewest_rounds(const RankGraph& graph,
                                                        const FewestRounds& task, const Pace& pace);

}  // namespace tutti::synthesis
