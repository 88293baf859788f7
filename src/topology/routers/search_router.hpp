#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/network/network.hpp>

#include "topology/adjacency.hpp"
#include "topology/routers/fork.hpp"

namespace tutti {

/// Shortest paths of any network, by one search for each destination, kept.
///
/// Only nodes that forward are searched, and ranks behind one link share the search of the node
/// that they hang off.
class SearchRouter {
 public:
  /// `up_down`: of the paths that never go up after they have gone down, the shortest.
  SearchRouter(const Network& network, bool up_down);

  /// Throws invalid_argument if there is no path.
  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links);

 private:
  /// How many links it is from a node to a destination.
  using Distance = std::uint16_t;

  /// From every node that forwards; for up-down routes, with a bit of memory: `down` is how far it
  /// is if only ways down are left, `any` how far otherwise.
  struct Distances {
    std::vector<Distance> any;
    std::vector<Distance> down;
  };

  [[nodiscard]] bool goes_up(NodeId from, NodeId to) const {
    return levels_[to.index()] > levels_[from.index()];
  }
  /// The node whose search serves paths to `target`: the one that it hangs off, or itself.
  [[nodiscard]] NodeId gate(NodeId target) const;
  [[nodiscard]] const Distances& distances_to(NodeId gate);
  void search(NodeId gate, Distances& distances) const;
  void search_up(Distances& distances) const;
  /// From any node, also one that does not forward.
  [[nodiscard]] Distance distance(const std::vector<Distance>& of, NodeId node, NodeId gate) const;
  [[noreturn]] void no_path(Rank from, Rank to) const;

  bool up_down_;
  Adjacency leaving_;
  Adjacency arriving_;
  std::vector<NodeId> ranks_;
  std::vector<std::string> names_;     // Of the ranks, for messages.
  std::vector<std::uint32_t> levels_;  // Of all nodes.
  std::vector<std::uint32_t> inner_;   // Of a node that forwards: its number among those.
  std::vector<NodeId> inner_nodes_;    // The inverse.
  std::vector<Distances> by_gate_;     // By node.
};

}  // namespace tutti
