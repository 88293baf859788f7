#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/broadcast_in_nodes.hpp"

namespace tutti::broadcast {

/// The root divides the data among the ranks of its node. Each piece goes down a binomial tree
/// between the nodes, and each rank that has got it sends it to the others of its node.
Program mesh_tree(const Problem& problem, Rank self) { return in_nodes(problem, self, binomial); }

}  // namespace tutti::broadcast
