#include "topology/adjacency.hpp"

namespace tutti {

Adjacency::Adjacency(const Network& network, Direction direction)
    : begin_(network.nodes.size() + 1), edges_(network.links.size()) {
  const bool leaving = direction == Direction::leaving;
  const auto near_end = [&](const Link& link) { return (leaving ? link.from : link.to).index(); };
  for (const Link& link : network.links) ++begin_[near_end(link) + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::uint32_t i = 0; i < network.links.size(); ++i) {
    const Link& link = network.links[i];
    edges_[next[near_end(link)]++] = {.other = leaving ? link.to : link.from, .link = LinkId{i}};
  }
}

}  // namespace tutti
