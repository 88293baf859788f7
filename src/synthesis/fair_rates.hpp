#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/rank_graph.hpp"

namespace tutti::synthesis {

/// The rates at which edges send if those that are busy share the links of their paths max-min
/// fairly, as in the simulator.
class FairRates {
 public:
  explicit FairRates(const RankGraph& graph);

  /// True if some link is on the paths of several edges.
  [[nodiscard]] bool any_shared() const { return any_shared_; }
  /// The number of links that edges use.
  [[nodiscard]] std::size_t links() const { return rates_.size(); }

  /// Computes the rate of every busy edge, in bytes per second.
  void update(const std::vector<bool>& busy, std::vector<double>& rates);

 private:
  std::vector<double> rates_;                         // Of each used link.
  std::vector<std::vector<std::uint32_t>> edges_on_;  // For each used link.
  std::vector<std::vector<std::uint32_t>> links_of_;  // For each edge.
  bool any_shared_ = false;

  std::vector<double> left_;
  std::vector<std::uint32_t> users_;
  std::vector<bool> fixed_;
};

}  // namespace tutti::synthesis
