#include "render/network_layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <set>

#include "render/springs.hpp"

namespace tutti::render {
namespace {

using NeighbourSets = std::vector<std::set<std::uint32_t>>;

constexpr double bend_height = 0.45;

NeighbourSets neighbours_of(const Network& network) {
  NeighbourSets found(network.nodes.size());
  for (const Link& link : network.links) {
    found[link.from.index()].insert(link.to.index());
    found[link.to.index()].insert(link.from.index());
  }
  return found;
}

/// Position i of n on a circle, clockwise from the top.
Point on_circle(std::size_t i, std::size_t n, double radius) {
  const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
  return {radius * std::sin(turn), -radius * std::cos(turn)};
}

double radius_for(std::size_t n, double distance) {
  return std::max(distance, static_cast<double>(n) * distance / (2 * std::numbers::pi));
}

Point sum(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }

NetworkLayout unbent(const Network& network) {
  return {.nodes = std::vector<Point>(network.nodes.size()),
          .bends = std::vector<Point>(network.links.size())};
}

/// Ranks on a circle; the switch, if there is one, in the middle.
NetworkLayout circle(const Network& network) {
  NetworkLayout layout = unbent(network);
  const double radius = radius_for(network.ranks.size(), 1.35);
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    layout.nodes[network.ranks[r].index()] = on_circle(r, network.ranks.size(), radius);
  }
  return layout;
}

/// The directions of the axes of a torus or cube: right, down, diagonal for depth, then blocks side
/// by side.
std::vector<Point> axes(const std::vector<std::uint32_t>& dimensions) {
  const double depth = dimensions.size() > 2 ? dimensions[2] : 1;
  const Point aslant{0.85, -0.6};
  const Point pitch{depth > 1 ? aslant.x * depth + 0.6 : 1.8,
                    depth > 1 ? -aslant.y * depth + 0.9 : 1.8};
  std::vector<Point> found{{pitch.x, 0}, {0, pitch.y}, aslant};
  Point block{pitch.x * dimensions.at(0) + 0.8,
              pitch.y * (dimensions.size() > 1 ? dimensions[1] : 1) + 0.8};
  for (std::size_t d = 3; d < dimensions.size(); ++d) {
    const bool right = d % 2 == 1;
    found.push_back(right ? Point{block.x, 0} : Point{0, block.y});
    (right ? block.x : block.y) *= dimensions[d];
  }
  found.resize(dimensions.size());
  return found;
}

std::vector<std::uint32_t> coordinates(std::uint32_t rank,
                                       const std::vector<std::uint32_t>& dimensions) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t size : dimensions) {
    found.push_back(rank % size);
    rank /= size;
  }
  return found;
}

/// Perpendicular to the axis, to its left, so that the link clears the nodes on the line.
Point bend_beside(Point axis) {
  const double length = std::hypot(axis.x, axis.y);
  return {axis.y / length * -bend_height, axis.x / length * -bend_height};
}

/// Ranks on a grid. Links that do not go to the next node of their axis are bent.
NetworkLayout grid(const Network& network, const std::vector<std::uint32_t>& dimensions) {
  NetworkLayout layout = unbent(network);
  const std::vector<Point> axis = axes(dimensions);
  for (std::uint32_t r = 0; r < network.rank_count(); ++r) {
    const std::vector<std::uint32_t> at = coordinates(r, dimensions);
    Point& place = layout.nodes[network.ranks[r].index()];
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      place = sum(place, {axis[d].x * at[d], axis[d].y * at[d]});
    }
  }
  for (std::size_t l = 0; l < network.links.size(); ++l) {
    const auto from = network.rank_of(network.links[l].from);
    const auto to = network.rank_of(network.links[l].to);
    if (!from || !to) continue;
    const auto a = coordinates(*from, dimensions);
    const auto b = coordinates(*to, dimensions);
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const std::uint32_t distance = std::max(a[d], b[d]) - std::min(a[d], b[d]);
      if (distance > 1 || (distance == 1 && d > 2)) layout.bends[l] = bend_beside(axis[d]);
    }
  }
  return layout;
}

/// The dimensions of a hypercube, each 2, if the network is one; otherwise empty.
std::vector<std::uint32_t> cube_dimensions(const Network& network,
                                           const NeighbourSets& neighbours) {
  const std::uint32_t ranks = network.rank_count();
  if (ranks < 8 || !std::has_single_bit(ranks) || network.nodes.size() != ranks) return {};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    std::set<std::uint32_t> wanted;
    for (std::uint32_t bit = 1; bit < ranks; bit *= 2) {
      wanted.insert(network.ranks[r ^ bit].index());
    }
    if (neighbours[network.ranks[r].index()] != wanted) return {};
  }
  std::vector<std::uint32_t> dimensions(static_cast<std::size_t>(std::countr_zero(ranks)), 2);
  return dimensions;
}

bool is_ring(const Network& network, const NeighbourSets& neighbours) {
  return network.nodes.size() == network.ranks.size() &&
         std::all_of(neighbours.begin(), neighbours.end(),
                     [](const auto& of) { return of.size() <= 2; });
}

/// Ranks at the bottom. Each level is spread evenly over the width, in the order of the nodes
/// below.
NetworkLayout levels(const Network& network, const NeighbourSets& neighbours) {
  NetworkLayout layout = unbent(network);
  std::uint32_t top = 0;
  for (const Node& node : network.nodes) top = std::max(top, node.level);
  const auto width = static_cast<double>(network.ranks.size()) * 1.15;
  const double height = std::clamp(width * 0.14, 2.0, 5.0);
  for (std::uint32_t level = 0; level <= top; ++level) {
    std::vector<std::pair<double, std::uint32_t>> order;
    for (std::uint32_t n = 0; n < network.nodes.size(); ++n) {
      if (network.nodes[n].level != level) continue;
      double below = 0;
      double count = 0;
      for (const std::uint32_t other : neighbours[n]) {
        if (network.nodes[other].level >= level) continue;
        below += layout.nodes[other].x;
        ++count;
      }
      const auto rank = network.rank_of(NodeId{n});
      order.emplace_back(rank ? *rank : count > 0 ? below / count : 0, n);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const double share = std::max(1.0, width / static_cast<double>(order.size()));
    const double whole = share * static_cast<double>(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      layout.nodes[order[i].second] = {(static_cast<double>(i) + 0.5) * share - whole / 2,
                                       -height * level};
    }
  }
  return layout;
}

/// Groups on a circle; in each group the routers on a smaller circle with their ranks outside.
NetworkLayout groups(const Network& network, const wiring::Dragonfly& dragonfly) {
  NetworkLayout layout = unbent(network);
  const std::size_t routers = dragonfly.routers;
  const std::size_t ranks = routers * dragonfly.ranks;
  const double inner = routers == 1 ? 0 : radius_for(routers, 1.2);
  const double outer = std::max(inner + 1.1, radius_for(ranks, 1.1));
  const double whole = dragonfly.groups == 1 ? 0 : radius_for(dragonfly.groups, 2 * outer + 1.2);
  for (std::uint32_t g = 0; g < dragonfly.groups; ++g) {
    const Point centre = on_circle(g, dragonfly.groups, whole);
    for (std::size_t a = 0; a < routers; ++a) {
      // The router is centred on its ranks.
      const std::size_t twice = 2 * a * dragonfly.ranks + dragonfly.ranks - 1;
      const std::size_t router = network.ranks.size() + g * routers + a;
      layout.nodes[router] = sum(centre, on_circle(twice, 2 * ranks, inner));
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      const NodeId rank = network.ranks[g * ranks + r];
      layout.nodes[rank.index()] = sum(centre, on_circle(r, ranks, outer));
    }
  }
  return layout;
}

NetworkLayout by_springs(const Network& network, const NeighbourSets& neighbours) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t a = 0; a < neighbours.size(); ++a) {
    for (const std::uint32_t b : neighbours[a]) {
      if (a < b) edges.emplace_back(a, b);
    }
  }
  NetworkLayout layout = unbent(network);
  layout.nodes = relax(network.nodes.size(), edges);
  return layout;
}

}  // namespace

NetworkLayout lay_out(const Network& network) {
  const NeighbourSets neighbours = neighbours_of(network);
  if (const auto* torus = std::get_if<wiring::Torus>(&network.wiring)) {
    const bool ring = torus->dimensions.size() == 1 && torus->wraps;
    return ring ? circle(network) : grid(network, torus->dimensions);
  }
  if (const auto* dragonfly = std::get_if<wiring::Dragonfly>(&network.wiring)) {
    return groups(network, *dragonfly);
  }
  const bool mesh = std::holds_alternative<wiring::FullMesh>(network.wiring);
  const bool star = network.nodes.size() == network.ranks.size() + 1 && !network.ranks_forward;
  if (mesh || star || is_ring(network, neighbours)) return circle(network);
  if (const auto dimensions = cube_dimensions(network, neighbours); !dimensions.empty()) {
    return grid(network, dimensions);
  }
  const bool levelled = std::any_of(network.nodes.begin(), network.nodes.end(),
                                    [](const Node& node) { return node.level > 0; });
  return levelled ? levels(network, neighbours) : by_springs(network, neighbours);
}

}  // namespace tutti::render
