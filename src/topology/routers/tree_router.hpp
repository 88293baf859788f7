#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>

#include "topology/routers/fork.hpp"

namespace tutti {

/// The only path between two ranks of a network without cycles: stars, servers, hosts on a switch.
class TreeRouter {
 public:
  /// True if the network has no cycle, every link has a reverse link, and ranks are leaves unless
  /// they forward.
  [[nodiscard]] static bool fits(const Network& network);

  /// Requires: fits(network), and that it is connected.
  explicit TreeRouter(const Network& network);

  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const;

 private:
  /// The position of a node in the tree.
  struct Place {
    NodeId parent{};
    LinkId up{};    ///< To the parent.
    LinkId down{};  ///< From the parent.
    std::uint32_t depth = 0;
  };

  std::vector<Place> places_;
  std::vector<NodeId> ranks_;
};

}  // namespace tutti
