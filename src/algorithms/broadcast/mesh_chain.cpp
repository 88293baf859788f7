#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/broadcast_in_nodes.hpp"
#include "algorithms/segments.hpp"

namespace tutti::broadcast {

/// The root divides the data among the ranks of its node. Each piece goes from node to node along a
/// chain, and each rank that has got it sends it to the others of its node. All links between the
/// nodes are busy, and with segments all the time.
Program mesh_chain(const Problem& problem, Rank self) {
  return pipelined(in_nodes(problem, self, chain), segments_of(problem));
}

}  // namespace tutti::broadcast
