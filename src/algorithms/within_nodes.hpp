#pragma once

#include <cstdint>

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// How many ranks share a node, and on how many nodes: the shape G x N, ranks 0 … G−1 on the first.
struct Nodes {
  std::uint32_t in_node;
  std::uint32_t nodes;
  std::uint32_t place;  ///< Of this rank in its node.
  std::uint32_t node;   ///< Of this rank.
};

[[nodiscard]] Nodes nodes(const Problem& problem, Rank self);

/// A ring in each node adds up a block for each of its ranks and in the end hands it out again; in
/// between, `across` does the allreduce of that block, in `pieces` chunks, among the ranks that
/// have the same place in their nodes, numbered by node.
[[nodiscard]] Program within_nodes(const Problem& problem, Rank self, const Program& across,
                                   std::uint32_t pieces);

}  // namespace tutti
