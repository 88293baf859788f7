#include "select/natural_shapes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <unordered_set>

#include <tutti/network/routes.hpp>

namespace tutti {
namespace {

/// Larger networks have too many factorings to try.
constexpr std::uint32_t most_ranks_in_grid = 1U << 16;

/// Networks of more different bandwidths or distances, such as measured ones, have no clear levels.
constexpr std::size_t most_levels = 16;

/// The distance from a rank to the next one.
struct Distance {
  double links = 0;
  double latency = 0;
};

class Arrangement {
 public:
  Arrangement(const Network& network, std::span<const Rank> places)
      : network_(network),
        places_(places),
        ranks_(places.empty() ? network.rank_count() : static_cast<std::uint32_t>(places.size())) {}

  [[nodiscard]] std::vector<Shape> shapes() {
    if (ranks_ < 4) return {};
    add_declared();
    add_grids();
    add_levels();
    return std::move(found_);
  }

 private:
  void add(std::vector<std::uint32_t> dimensions) {
    const bool is_flat = std::count_if(dimensions.begin(), dimensions.end(),
                                       [](std::uint32_t d) { return d > 1; }) < 2;
    if (is_flat) return;
    Shape shape{.dimensions = std::move(dimensions)};
    if (shape.size() != ranks_) return;
    if (std::find(found_.begin(), found_.end(), shape) == found_.end()) {
      found_.push_back(std::move(shape));
    }
  }

  void add_declared() {
    if (!places_.empty()) return;
    if (const auto* const torus = std::get_if<wiring::Torus>(&network_.wiring)) {
      add(torus->dimensions);
    }
  }

  // Grids ---------------------------------------------------------------------------------------

  [[nodiscard]] NodeId node(std::uint32_t rank) const {
    return network_.ranks[places_.empty() ? rank : places_[rank]];
  }

  void add_grids() {
    if (ranks_ > most_ranks_in_grid) return;
    std::unordered_set<std::uint64_t> joined;
    for (const Link& link : network_.links) {
      if (network_[link.from].kind == NodeKind::rank && network_[link.to].kind == NodeKind::rank) {
        joined.insert((std::uint64_t{link.from.index()} << 32) | link.to.index());
      }
    }
    // A full mesh contains every grid, so that none of them says anything.
    if (joined.empty() || joined.size() == std::size_t{ranks_} * (ranks_ - 1)) return;
    std::vector<std::uint32_t> dimensions;
    add_grids(joined, 1, dimensions);
  }

  /// Adds dimension after dimension, as long as neighbours are joined.
  void add_grids(const std::unordered_set<std::uint64_t>& joined, std::uint32_t stride,
                 std::vector<std::uint32_t>& dimensions) {
    constexpr std::size_t most_dimensions = 4;
    if (stride == ranks_) return add(dimensions);
    if (dimensions.size() == most_dimensions) return;
    const std::uint32_t rest = ranks_ / stride;
    for (std::uint32_t side = rest; side >= 2; --side) {
      if (rest % side != 0 || !are_neighbours(joined, stride, side)) continue;
      dimensions.push_back(side);
      add_grids(joined, stride * side, dimensions);
      dimensions.pop_back();
    }
  }

  [[nodiscard]] bool are_neighbours(const std::unordered_set<std::uint64_t>& joined,
                                    std::uint32_t stride, std::uint32_t side) const {
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (r / stride % side + 1 == side) continue;
      const std::uint64_t from = node(r).index();
      const std::uint64_t to = node(r + stride).index();
      if (!joined.contains((from << 32) | to) || !joined.contains((to << 32) | from)) return false;
    }
    return true;
  }

  // Levels --------------------------------------------------------------------------------------

  [[nodiscard]] std::vector<Distance> distances() const {
    Routes routes(network_);
    std::vector<Distance> found;
    std::vector<LinkId> links;
    for (std::uint32_t r = 0; r + 1 < ranks_; ++r) {
      links.clear();
      routes.append(places_.empty() ? r : places_[r],
                    places_.empty() ? Rank{r + 1} : places_[r + 1], links);
      Distance distance{.links = static_cast<double>(links.size())};
      for (const LinkId link : links) {
        distance.latency += network_[link].latency;
      }
      found.push_back(distance);
    }
    return found;
  }

  void add_levels() {
    add_levels(slowness());
    const std::vector<Distance> all = distances();
    for (double Distance::*const measure : {&Distance::links, &Distance::latency}) {
      std::vector<double> values;
      for (const Distance& each : all) values.push_back(each.*measure);
      add_levels(values);
    }
  }

  /// From each rank to the next, the seconds per byte of the widest path: whatever routes are
  /// chosen, close ranks could use it.
  [[nodiscard]] std::vector<double> slowness() const {
    std::set<double, std::greater<>> bandwidths;
    for (const Link& link : network_.links) bandwidths.insert(link.bytes_per_second);
    std::vector<double> found(ranks_ - 1, 0);
    if (bandwidths.size() > most_levels) return found;
    for (const double least : bandwidths) {
      const std::vector<std::set<std::uint32_t>> near = reached_by(least);
      for (std::uint32_t r = 0; r + 1 < ranks_; ++r) {
        if (found[r] > 0) continue;
        const auto& one = near[node(r).index()];
        const auto& other = near[node(r + 1).index()];
        const bool meet = std::any_of(one.begin(), one.end(),
                                      [&](std::uint32_t each) { return other.contains(each); });
        if (meet) found[r] = 1 / least;
      }
    }
    return found;
  }

  /// By node: the sets of nodes that it reaches over links of at least this bandwidth, named by one
  /// member. A rank that does not forward belongs to several.
  [[nodiscard]] std::vector<std::set<std::uint32_t>> reached_by(double least) const {
    std::vector<std::uint32_t> parent(network_.nodes.size());
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&](std::uint32_t at) {
      while (parent[at] != at) at = parent[at] = parent[parent[at]];
      return at;
    };
    const auto ends_here = [&](NodeId id) {
      return !network_.ranks_forward && network_[id].kind == NodeKind::rank;
    };
    for (const Link& link : network_.links) {
      if (link.bytes_per_second < least || ends_here(link.from) || ends_here(link.to)) continue;
      parent[root(link.from.index())] = root(link.to.index());
    }
    std::vector<std::set<std::uint32_t>> sets(network_.nodes.size());
    for (std::uint32_t i = 0; i < network_.nodes.size(); ++i) sets[i].insert(root(i));
    for (const Link& link : network_.links) {
      if (link.bytes_per_second < least) continue;
      if (ends_here(link.from)) sets[link.from.index()].insert(root(link.to.index()));
    }
    return sets;
  }

  /// The sizes of the groups whose members are closer than `values` above each threshold.
  void add_levels(const std::vector<double>& values) {
    std::set<double> thresholds(values.begin(), values.end());
    if (thresholds.size() > most_levels) return;
    std::set<std::uint32_t> sizes;
    for (const double threshold : thresholds) {
      const std::uint32_t size = size_of_groups(values, threshold);
      if (size > 1 && size < ranks_) sizes.insert(size);
    }
    if (sizes.empty()) return;
    std::vector<std::uint32_t> finest;
    std::uint32_t before = 1;
    for (const std::uint32_t size : sizes) {
      if (size % before != 0) continue;
      finest.push_back(size / before);
      before = size;
    }
    finest.push_back(ranks_ / before);
    if (finest.size() > 2) add(finest);
    for (const std::uint32_t size : sizes) add({size, ranks_ / size});
  }

  /// The size of the groups if all are equal, otherwise 0.
  [[nodiscard]] std::uint32_t size_of_groups(const std::vector<double>& values,
                                             double threshold) const {
    const auto first =
        std::find_if(values.begin(), values.end(), [&](double each) { return each > threshold; });
    if (first == values.end()) return 0;
    const auto size = static_cast<std::uint32_t>(first - values.begin()) + 1;
    if (ranks_ % size != 0) return 0;
    for (std::uint32_t r = 0; r + 1 < ranks_; ++r) {
      if ((values[r] > threshold) != ((r + 1) % size == 0)) return 0;
    }
    return size;
  }

  const Network& network_;
  std::span<const Rank> places_;
  std::uint32_t ranks_;
  std::vector<Shape> found_;
};

}  // namespace

std::vector<Shape> natural_shapes(const Network& network, std::span<const Rank> places) {
  return Arrangement(network, places).shapes();
}

std::vector<Shape> shapes_of_two(std::uint32_t ranks) {
  std::vector<Shape> shapes;
  for (std::uint32_t d = 2; d <= ranks / 2; ++d) {
    if (ranks % d == 0) shapes.push_back({.dimensions = {d, ranks / d}});
  }
  return shapes;
}

}  // namespace tutti
