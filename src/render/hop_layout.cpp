#include "render/hop_layout.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace tutti::render {
namespace {

using Neighbours = std::vector<std::vector<std::uint32_t>>;

Neighbours neighbours_of(const HopGraph& graph) {
  std::vector<std::set<std::uint32_t>> found(graph.nodes);
  for (const auto& [pair, hop] : graph.hops) {
    found[pair.first].insert(pair.second);
    found[pair.second].insert(pair.first);
  }
  Neighbours sorted;
  for (const auto& each : found) sorted.emplace_back(each.begin(), each.end());
  return sorted;
}

/// The nodes in the order of a walk from `start`; fewer than all if the graph is not connected.
std::vector<std::uint32_t> walk(const Neighbours& neighbours, std::uint32_t start) {
  std::vector<std::uint32_t> order{start};
  std::vector<bool> seen(neighbours.size(), false);
  seen[start] = true;
  for (std::uint32_t at = start; order.size() < neighbours.size();) {
    const auto& near = neighbours[at];
    const auto next =
        std::find_if(near.begin(), near.end(), [&](auto each) { return !seen[each]; });
    if (next == near.end()) break;
    at = *next;
    seen[at] = true;
    order.push_back(at);
  }
  return order;
}

std::vector<std::uint32_t> ring_order(const Neighbours& neighbours) {
  for (const auto& each : neighbours) {
    if (each.size() != 2) return {};
  }
  std::vector<std::uint32_t> order = walk(neighbours, 0);
  if (order.size() != neighbours.size()) order.clear();
  return order;
}

double node_radius(std::uint32_t nodes) { return nodes <= 32 ? 12 : nodes <= 64 ? 10 : 7; }

/// On a circle, node 0 at the top, clockwise.
HopLayout circle(const std::vector<std::uint32_t>& order, HopLayout::Kind kind) {
  const auto count = static_cast<double>(order.size());
  HopLayout layout{.kind = kind, .radius = node_radius(static_cast<std::uint32_t>(order.size()))};
  // The arrows of a ring need room between the nodes.
  const double gap = kind == HopLayout::Kind::ring ? 20 : 9;
  const double around = std::max(kind == HopLayout::Kind::ring ? 110.0 : 190.0,
                                 count * (2 * layout.radius + gap) / (2 * std::numbers::pi));
  layout.places.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / count;
    layout.places[order[i]] = {around + around * std::sin(angle),
                               around - around * std::cos(angle)};
  }
  layout.width = layout.height = 2 * around;
  return layout;
}

/// Leaves side by side, parents over the middle of their children.
class TreeLayout {
 public:
  TreeLayout(const Neighbours& neighbours, std::uint32_t root)
      : neighbours_(neighbours), root_(root) {
    layout_.kind = HopLayout::Kind::tree;
    layout_.radius = node_radius(static_cast<std::uint32_t>(neighbours.size()));
    layout_.places.resize(neighbours.size());
    // The lines to the leaves of a small tree need room more than the paper is short of it.
    constexpr double narrow_tree = 580;
    constexpr double most_apart = 60;
    const auto leaves = static_cast<double>(std::count_if(
        neighbours.begin(), neighbours.end(), [](const auto& each) { return each.size() == 1; }));
    column_ = std::max(2 * layout_.radius + 5, std::min(most_apart, narrow_tree / leaves));
  }

  [[nodiscard]] HopLayout made() {
    place(root_, root_, 0);
    layout_.width = std::max(0.0, next_ - column_);
    return std::move(layout_);
  }

 private:
  void place(std::uint32_t node, std::uint32_t parent, std::uint32_t depth) {
    constexpr double level = 62;
    double first = -1;
    double last = -1;
    // The largest subtree of a binomial tree is the child told first; it is drawn at the left.
    for (const std::uint32_t child : neighbours_[node]) {
      if (child == parent) continue;
      place(child, node, depth + 1);
      last = layout_.places[child].x;
      if (first < 0) first = last;
    }
    const double x = first < 0 ? next_ : (first + last) / 2;
    if (first < 0) next_ += column_;
    layout_.places[node] = {x, depth * level};
    layout_.height = std::max(layout_.height, depth * level);
  }

  const Neighbours& neighbours_;
  std::uint32_t root_;
  double column_ = 0;  ///< From one leaf to the next.
  double next_ = 0;    ///< Where the next leaf goes.
  HopLayout layout_;
};

/// The first dimension runs to the right, the second down; further ones are grids side by side.
HopLayout grid(const Shape& shape, std::uint32_t nodes) {
  HopLayout layout{.kind = HopLayout::Kind::grid, .radius = node_radius(nodes)};
  const double step = 2 * layout.radius + 34;
  const std::uint32_t across = shape.dimensions[0];
  const std::uint32_t down = shape.dimensions.size() > 1 ? shape.dimensions[1] : 1;
  const double block = across * step + 24;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const std::uint32_t layer = i / (across * down);
    const Point at{layer * block + i % across * step, i / across % down * step};
    layout.places.push_back(at);
    layout.width = std::max(layout.width, at.x);
    layout.height = std::max(layout.height, at.y);
  }
  return layout;
}

}  // namespace

bool is_tree(const HopGraph& graph) {
  const Neighbours neighbours = neighbours_of(graph);
  std::size_t ends = 0;
  for (const auto& each : neighbours) ends += each.size();
  if (graph.nodes < 2 || ends != 2 * (std::size_t{graph.nodes} - 1)) return false;
  std::vector<std::uint32_t> reached{0};
  std::vector<bool> seen(graph.nodes, false);
  seen[0] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::uint32_t each : neighbours[reached[i]]) {
      if (seen[each]) continue;
      seen[each] = true;
      reached.push_back(each);
    }
  }
  return reached.size() == graph.nodes;
}

HopLayout hop_layout(const HopGraph& graph, std::uint32_t root, const Shape& shape) {
  const Neighbours neighbours = neighbours_of(graph);
  const std::vector<std::uint32_t> ring = ring_order(neighbours);
  if (!ring.empty()) return circle(ring, HopLayout::Kind::ring);
  if (is_tree(graph)) return TreeLayout(neighbours, root).made();
  if (!shape.empty() && shape.size() == graph.nodes) return grid(shape, graph.nodes);
  std::vector<std::uint32_t> order(graph.nodes);
  for (std::uint32_t i = 0; i < graph.nodes; ++i) order[i] = i;
  return circle(order, HopLayout::Kind::circle);
}

}  // namespace tutti::render
