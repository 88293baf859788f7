#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "synthesis/pace.hpp"
#include "synthesis/rank_graph.hpp"

namespace tutti::synthesis {

/// Packs spanning trees into a graph of ranks: `trees` out of each root, so that no edge is in more
/// trees than its capacity. Edmonds (1973) proved when this is possible; the trees are built edge
/// by edge, many equal ones at a time, as by Bérczi and Frank ("Packing arborescences", 2010) and
/// in ForestColl (Zhao et al., 2024). An edge is added as often as one maximum flow allows.
class TreePacking {
 public:
  TreePacking(const RankGraph& graph, std::span<const std::uint32_t> roots, std::uint32_t trees);

  /// No value if time runs out, or if the graph has no room for the trees.
  [[nodiscard]] std::optional<std::vector<Tree>> run(const Pace& pace);

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// Equal trees, unfinished at first.
  struct Batch {
    std::int64_t weight = 0;
    std::vector<std::uint64_t> has{};  // Ranks of the tree, one bit each.
    std::vector<std::uint32_t> edge_into{};
    std::vector<std::uint32_t> order{};
    std::vector<std::uint32_t> depth{};
    std::vector<std::uint32_t> open{};  // Edges that leave the tree, those of low depth first.
    std::uint32_t root = 0;
  };

  /// What one batch has supplied to a rank in the flow.
  struct Supply {
    std::uint32_t rank;
    std::int64_t amount;
  };

  [[nodiscard]] static bool bit(const std::vector<std::uint64_t>& bits, std::uint32_t i) {
    return (bits[i / 64] >> i % 64 & 1) != 0;
  }
  void add_rank(std::uint32_t batch, std::uint32_t rank, std::uint32_t edge);
  bool grow(std::uint32_t batch);
  void divide(std::uint32_t batch, std::int64_t weight);
  [[nodiscard]] std::int64_t most_that_fits(std::uint32_t batch, std::uint32_t edge);
  std::int64_t augment(std::uint32_t from, std::uint32_t to, std::int64_t most);
  std::int64_t follow(std::uint32_t begin, std::uint32_t to, std::int64_t amount,
                      std::uint32_t supplier);
  std::int64_t& supply(std::uint32_t batch, std::uint32_t rank);
  void push(std::uint32_t half, std::int64_t amount);

  const RankGraph& graph_;
  std::uint32_t n_;
  std::vector<std::int64_t> left_;               // Capacity left of each edge.
  std::vector<std::vector<std::uint32_t>> in_;   // Edges into each rank.
  std::vector<std::vector<std::uint32_t>> out_;  // Edges out of each rank.
  std::vector<Batch> batches_;
  std::vector<std::vector<std::uint64_t>> holds_;  // For each rank: the batches that hold it.

  // The flow of most_that_fits().
  std::vector<std::int64_t> flow_;  // On each edge.
  std::vector<std::uint32_t> used_;
  std::vector<std::int64_t> unsupplied_;       // For each batch: what it can still supply.
  std::vector<std::vector<Supply>> supplied_;  // For each batch.
  std::vector<std::uint64_t> active_;          // Batches that the flow must reach from.
  std::vector<std::uint64_t> unseen_;          // Of these, those that the search has not seen.
  /// The step of the path from each rank towards the sink: a half-edge, or 2^31 + batch.
  std::vector<std::uint32_t> step_;
  std::vector<std::uint32_t> hop_;  // For a step through a batch: the rank that it leads to.
  std::vector<std::uint32_t> queue_;
};

}  // namespace tutti::synthesis
