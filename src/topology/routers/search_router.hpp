#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/network/network.hpp>

#include "topology/adjacency.hpp"
#include "topology/routers/fork.hpp"

namespace tutti {

/// Shortest paths of any network, by one cached search per destination.
///
/// Only nodes that forward are searched. Ranks with a single link share the search of the node that
/// they are linked to.
class SearchRouter {
 public:
  /// `up_down`: the shortest among the paths that never go up after going down.
  SearchRouter(const Network& network, bool up_down);

  /// Throws invalid_argument if there is no path.
  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links);

 private:
  /// Number of links from a node to a destination.
  using Distance = std::uint16_t;

  /// The distance from every node that forwards. Up-down routes have one bit of state: `down` is
  /// the distance if only links down may follow, `any` the distance otherwise.
  struct Distances {
    std::vector<Distance> any;
    std::vector<Distance> down;
  };

  [[nodiscard]] bool goes_up(NodeId from, NodeId to) const {
    return levels_[to.index()] > levels_[from.index()];
  }
  /// The node whose search serves paths to `target`: the node it is linked to, or itself.
  [[nodiscard]] NodeId gate(NodeId target) const;
  [[nodiscard]] const Distances& distances_to(NodeId gate);
  void search(NodeId gate, Distances& distances) const;
  void search_up(Distances& distances) const;
  /// The distance from any node, also one that does not forward.
  [[nodiscard]] Distance distance(const std::vector<Distance>& of, NodeId node, NodeId gate) const;
  [[noreturn]] void no_path(Rank from, Rank to) const;

  bool up_down_;
  Adjacency leaving_;
  Adjacency arriving_;
  std::vector<NodeId> ranks_;
  std::vector<std::string> names_;     // Names of the ranks, for messages.
  std::vector<std::uint32_t> levels_;  // Levels of all nodes.
  std::vector<std::uint32_t> inner_;   // Index of a node among those that forward.
  std::vector<NodeId> inner_nodes_;    // The inverse of inner_.
  std::vector<Distances> by_gate_;     // Indexed by node.
};

}  // namespace tutti
