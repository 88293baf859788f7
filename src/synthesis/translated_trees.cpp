#include "synthesis/translated_trees.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "topology/max_flow.hpp"

namespace tutti::synthesis {
namespace {

/// One step along a dimension of a torus.
struct Direction {
  std::uint32_t dimension = 0;
  bool up = true;
};

class TorusTrees {
 public:
  TorusTrees(const RankGraph& graph, std::span<const std::uint32_t> dimensions, std::uint32_t trees)
      : graph_(graph), dimensions_(dimensions), trees_(trees) {
    for (std::uint32_t j = 0; j < dimensions.size(); ++j) {
      if (dimensions[j] > 1) directions_.push_back({j, true});
      if (dimensions[j] > 2) directions_.push_back({j, false});
    }
  }

  [[nodiscard]] bool fits() {
    std::uint64_t size = 1;
    for (const std::uint32_t each : dimensions_) size *= each;
    if (size != graph_.ranks || size < 2) return false;
    if (graph_.edges.size() != size * directions_.size()) return false;
    const std::int64_t capacity = graph_.edges.front().capacity;
    for (std::uint32_t i = 0; i < graph_.edges.size(); ++i) {
      const RankEdge& edge = graph_.edges[i];
      if (edge.capacity != capacity) return false;
      edge_between_[{edge.from, edge.to}] = i;
    }
    for (std::uint32_t rank = 0; rank < graph_.ranks; ++rank) {
      for (const Direction& each : directions_) {
        if (!edge_between_.contains({rank, moved(rank, each)})) return false;
      }
    }
    return assign(static_cast<Wide>(capacity));
  }

  [[nodiscard]] std::vector<Tree> build() const {
    const std::vector<std::uint32_t> by_distance = ranks_by_distance();
    std::vector<Tree> all;
    for (std::uint32_t root = 0; root < graph_.ranks; ++root) {
      for (std::uint32_t t = 0; t < trees_; ++t) {
        Tree tree{.root = root, .edge_into = std::vector<std::uint32_t>(graph_.ranks, Tree::none)};
        for (const std::uint32_t rank : by_distance) {
          const std::uint32_t here = sum(root, rank);
          tree.order.push_back(here);
          if (rank == 0) continue;
          // Ranks begin with different directions, so that no tree prefers one.
          const auto& choices = chosen_[rank];
          const Direction& direction = directions_[choices[(t + rank) % choices.size()]];
          const std::uint32_t parent = sum(root, moved(rank, {direction.dimension, !direction.up}));
          tree.edge_into[here] = edge_between_.at({parent, here});
        }
        all.push_back(std::move(tree));
      }
    }
    return all;
  }

 private:
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t rank, std::uint32_t dimension) const {
    for (std::uint32_t j = 0; j < dimension; ++j) rank /= dimensions_[j];
    return rank % dimensions_[dimension];
  }
  [[nodiscard]] std::uint32_t moved(std::uint32_t rank, const Direction& direction) const {
    std::uint32_t stride = 1;
    for (std::uint32_t j = 0; j < direction.dimension; ++j) stride *= dimensions_[j];
    const std::uint32_t size = dimensions_[direction.dimension];
    const std::uint32_t at = rank / stride % size;
    const std::uint32_t next = direction.up ? (at + 1) % size : (at + size - 1) % size;
    return rank - at * stride + next * stride;
  }
  [[nodiscard]] std::uint32_t sum(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t total = 0;
    std::uint32_t stride = 1;
    for (const std::uint32_t size : dimensions_) {
      total += (a % size + b % size) % size * stride;
      a /= size;
      b /= size;
      stride *= size;
    }
    return total;
  }
  [[nodiscard]] std::uint32_t distance(std::uint32_t rank) const {
    std::uint32_t total = 0;
    for (const std::uint32_t size : dimensions_) {
      total += std::min(rank % size, size - rank % size);
      rank /= size;
    }
    return total;
  }
  [[nodiscard]] std::vector<std::uint32_t> ranks_by_distance() const {
    std::vector<std::uint32_t> ranks(graph_.ranks);
    std::iota(ranks.begin(), ranks.end(), 0);
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](auto a, auto b) { return distance(a) < distance(b); });
    return ranks;
  }

  /// Chooses for every rank the last direction of its path from rank 0 in each tree. False if the
  /// directions cannot be used equally often.
  bool assign(Wide capacity) {
    const std::uint32_t n = graph_.ranks;
    const auto ways = static_cast<std::uint32_t>(directions_.size());
    const std::uint32_t source = n + ways;
    MaxFlow flow(source + 2);
    struct Option {
      std::uint32_t rank, way, arc;
    };
    std::vector<Option> options;
    for (std::uint32_t rank = 1; rank < n; ++rank) {
      for (std::uint32_t w = 0; w < ways; ++w) {
        const std::uint32_t size = dimensions_[directions_[w].dimension];
        const std::uint32_t at = coordinate(rank, directions_[w].dimension);
        const std::uint32_t steps = directions_[w].up ? at : size - at;
        if (at == 0 || 2 * steps > size) continue;
        options.push_back({rank, w, flow.add_arc(rank, n + w)});
      }
    }
    for (const Option& each : options) flow.set_capacity(each.arc, trees_);
    for (std::uint32_t rank = 1; rank < n; ++rank) {
      flow.set_capacity(flow.add_arc(source, rank), trees_);
    }
    for (std::uint32_t w = 0; w < ways; ++w) {
      flow.set_capacity(flow.add_arc(n + w, source + 1), capacity);
    }
    if (flow.run(source, source + 1) != Wide{n - 1} * trees_) return false;
    chosen_.resize(n);
    for (const Option& each : options) {
      const auto times = static_cast<std::size_t>(flow.flow(each.arc));
      chosen_[each.rank].insert(chosen_[each.rank].end(), times, each.way);
    }
    return true;
  }

  const RankGraph& graph_;
  std::span<const std::uint32_t> dimensions_;
  std::uint32_t trees_;
  std::vector<Direction> directions_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> edge_between_;
  std::vector<std::vector<std::uint32_t>> chosen_;  // For each rank, `trees_` directions.
};

}  // namespace

std::optional<std::vector<Tree>> translated_trees(const RankGraph& graph,
                                                  std::span<const std::uint32_t> dimensions,
                                                  std::uint32_t trees) {
  if (graph.edges.empty()) return {};
  TorusTrees torus(graph, dimensions, trees);
  if (!torus.fits()) return {};
  return torus.build();
}

}  // namespace tutti::synthesis
