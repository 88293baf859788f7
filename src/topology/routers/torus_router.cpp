#include "topology/routers/torus_router.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <tutti/error.hpp>

namespace tutti {
namespace {

constexpr LinkId no_link{std::numeric_limits<std::uint32_t>::max()};

std::uint64_t pair_of(NodeId from, NodeId to) {
  return (std::uint64_t{from.index()} << 32) | to.index();
}

}  // namespace

TorusRouter::TorusRouter(const Network& network, const wiring::Torus& torus)
    : dimensions_(torus.dimensions), wraps_(torus.wraps) {
  // 2^32 ranks in dimensions of two ranks each are the limit of a 32-bit rank number.
  constexpr std::size_t most_dimensions = 32;
  if (dimensions_.size() > most_dimensions) {
    throw Error(ErrorCode::invalid_argument, "the torus has " + std::to_string(dimensions_.size()) +
                                                 " dimensions: remove those of one rank; at most " +
                                                 std::to_string(most_dimensions));
  }
  constexpr std::uint64_t too_many = std::uint64_t{1} << 32;
  std::uint64_t size = 1;
  for (const std::uint32_t each : dimensions_) size = std::min(size * each, too_many);
  if (size != network.rank_count()) {
    throw Error(ErrorCode::invalid_argument, "the dimensions of the torus need " +
                                                 std::to_string(size) + " ranks, but there are " +
                                                 std::to_string(network.rank_count()));
  }
  std::unordered_map<std::uint64_t, LinkId> links;
  links.reserve(network.links.size());
  for (std::uint32_t i = 0; i < network.links.size(); ++i) {
    links.emplace(pair_of(network.links[i].from, network.links[i].to), LinkId{i});
  }
  steps_.assign(2 * dimensions_.size() * network.rank_count(), no_link);
  std::uint32_t stride = 1;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const std::uint32_t side = dimensions_[d];
    for (std::uint32_t r = 0; side > 1 && r < network.rank_count(); ++r) {
      const std::uint32_t at = r / stride % side;
      for (const bool up : {false, true}) {
        if (!wraps_ && (up ? at + 1 == side : at == 0)) continue;
        const std::uint32_t next = (at + (up ? 1 : side - 1)) % side;
        const NodeId from = network.ranks[r];
        const NodeId to = network.ranks[r - at * stride + next * stride];
        const auto found = links.find(pair_of(from, to));
        if (found == links.end()) {
          throw Error(ErrorCode::invalid_argument,
                      (wraps_ ? "the torus has no link from " : "the grid has no link from ") +
                          network[from].name + " to its neighbour " + network[to].name);
        }
        step(r, d, up) = found->second;
      }
    }
    stride *= side;
  }
}

void TorusRouter::append(Rank from, Rank to, Fork& /*fork*/, std::vector<LinkId>& links) const {
  std::uint32_t at = from;
  std::uint32_t from_rest = from;
  std::uint32_t to_rest = to;
  std::uint32_t stride = 1;
  const std::size_t count = dimensions_.size();
  for (std::size_t d = 0; d < count && from_rest != to_rest; ++d) {
    const std::uint32_t side = dimensions_[d];
    std::uint32_t here = from_rest % side;
    const std::uint32_t there = to_rest % side;
    from_rest /= side;
    to_rest /= side;
    const std::uint32_t above = there >= here ? there - here : there + side - here;
    // At exactly half the ring, ranks in even places go up and ranks in odd places go down. This
    // balances the load of both directions.
    const bool up =
        wraps_ ? 2 * above < side || (2 * above == side && here % 2 == 0) : there > here;
    for (std::uint32_t left = up ? above : side - above; here != there && left > 0; --left) {
      links.push_back(steps_[2 * (at * count + d) + (up ? 1 : 0)]);
      const std::uint32_t next =
          up ? (here + 1 == side ? 0 : here + 1) : (here == 0 ? side - 1 : here - 1);
      at = at - here * stride + next * stride;
      here = next;
    }
    stride *= side;
  }
}

}  // namespace tutti
