#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/network/network.hpp>

namespace tutti {

/// The links of a network, grouped by the node at one of their ends.
class Adjacency {
 public:
  enum class Direction { leaving, arriving };

  struct Edge {
    NodeId other;  ///< The node at the far end.
    LinkId link;
  };

  Adjacency(const Network& network, Direction direction);

  /// In the order of Network::links.
  [[nodiscard]] std::span<const Edge> of(NodeId node) const {
    const std::uint32_t begin = begin_[node.index()];
    return {edges_.data() + begin, begin_[node.index() + 1] - begin};
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<Edge> edges_;
};

}  // namespace tutti
