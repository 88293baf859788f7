#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/network/network.hpp>

#include "support/random.hpp"

namespace tutti::test {

/// A random connected network of at most `most` nodes with uneven links; some of its nodes are
/// switches. One network in four has links whose directions differ.
inline Network random_network(std::uint64_t seed, std::uint32_t most) {
  Random random(seed);
  const std::uint32_t nodes = 2 + random.below(most - 1);
  const std::uint32_t ranks = 2 + random.below(nodes - 1);
  const bool even = !random.one_in(4);
  Network network{.name = "random " + std::to_string(seed)};
  std::vector<NodeId> ids;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const bool is_rank = i < ranks;
    ids.push_back(network.add((is_rank ? "r" : "s") + std::to_string(i),
                              is_rank ? NodeKind::rank : NodeKind::switch_));
  }
  const auto width = [&] { return 1e9 * (1 + random.below(10U)); };
  const auto join = [&](NodeId a, NodeId b) {
    const double one = width();
    network.add_link(a, b, one, 0);
    network.add_link(b, a, even ? one : width(), 0);
  };
  std::vector<NodeId> order = ids;
  random.shuffle(order);
  for (std::uint32_t i = 1; i < nodes; ++i) join(order[i], order[random.below(i)]);
  const std::uint32_t more = random.below(2 * nodes);
  for (std::uint32_t i = 0; i < more; ++i) {
    const NodeId a = random.pick(ids);
    const NodeId b = random.pick(ids);
    if (a != b) join(a, b);
  }
  network.ranks_forward = true;
  return network;
}

}  // namespace tutti::test
