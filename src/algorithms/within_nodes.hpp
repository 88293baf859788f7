#pragma once

#include <cstdint>

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// The position of a rank in the shape G x N: G ranks per node, N nodes, ranks 0 … G−1 on the
/// first.
struct Nodes {
  std::uint32_t in_node;
  std::uint32_t nodes;
  std::uint32_t place;  ///< Index of this rank in its node.
  std::uint32_t node;   ///< Node of this rank.
};

[[nodiscard]] Nodes nodes(const Problem& problem, Rank self);

/// A ring in each node reduces one block for each of its ranks, and at the end distributes it
/// again. In between, `across` does the allreduce of that block, in `pieces` chunks, among the
/// ranks that have the same index in their nodes, numbered by node.
[[nodiscard]] Program within_nodes(const Problem& problem, Rank self, const Program& across,
                                   std::uint32_t pieces);

}  // namespace tutti
