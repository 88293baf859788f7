#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>

#include "topology/routers/fork.hpp"

namespace tutti {

/// The one path between two ranks of a network without circles: stars, servers, hosts on a switch.
class TreeRouter {
 public:
  /// Whether the network has no circle, a link back for each link, and ranks only at the ends
  /// unless they forward.
  [[nodiscard]] static bool fits(const Network& network);

  /// Requires: fits(network), and that it is connected.
  explicit TreeRouter(const Network& network);

  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const;

 private:
  /// A node and its place under the root.
  struct Place {
    NodeId parent{};
    LinkId up{};    ///< To the parent
    LinkId down{};  ///< and back.
    std::uint32_t depth = 0;
  };

  std::vector<Place> places_;
  std::vector<NodeId> ranks_;
};

}  // namespace tutti
