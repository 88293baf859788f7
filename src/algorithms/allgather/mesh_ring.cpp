#include <vector>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/cyclic.hpp"
#include "algorithms/within_nodes.hpp"

namespace tutti::allgather {

/// A ring across the nodes for each rank of a node. A block is sent to all other ranks of the node
/// while it goes on to the next node. Each block crosses to each other node once.
Program mesh_ring(const Problem& problem, Rank self) {
  const Nodes at = nodes(problem, self);
  const auto block = [&](std::int64_t node, std::uint32_t place) {
    return Chunk{wrap(node, at.nodes) * at.in_node + place};
  };
  const auto rank = [&](std::int64_t node, std::uint32_t place) {
    return wrap(node, at.nodes) * at.in_node + place;
  };
  const std::int64_t node = at.node;
  const bool alone = at.in_node == 1;
  Program program(alone ? at.nodes - 1 : at.nodes);
  for (std::uint32_t s = 0; s < program.rounds(); ++s) {
    const bool last = s + 1 == at.nodes;
    // One step, so that the dual adds the sums of all ranks in one fold.
    std::vector<Rank> peers;
    if (!last) peers.push_back(rank(node + 1, at.place));
    for (std::uint32_t i = 1; i < at.in_node; ++i) {
      peers.push_back(rank(node, (at.place + i) % at.in_node));
    }
    const ChunkRange passed(block(node - s, at.place));
    program.send(s, peers, {&passed, 1});
    if (!last) program.receive(s, rank(node - 1, at.place), block(node - s - 1, at.place));
    for (std::uint32_t i = 1; i < at.in_node; ++i) {
      const std::uint32_t place = (at.place + at.in_node - i) % at.in_node;
      program.receive(s, rank(node, place), block(node - s, place));
    }
  }
  return program;
}

}  // namespace tutti::allgather
