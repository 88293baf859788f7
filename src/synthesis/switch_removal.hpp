#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/pace.hpp"
#include "synthesis/rank_graph.hpp"
#include "synthesis/rate.hpp"

namespace tutti::synthesis {

/// Replaces the switches of a network by edges between ranks, by splitting off pairs of links
/// (Lovász 1976, Mader 1978; for directed graphs Bang-Jensen, Frank and Jackson 1995): capacity
/// that enters a switch from u and leaves it to t becomes capacity from u to t. A pair is split off
/// only as far as every sink can still receive all trees. If as much capacity enters every switch
/// as leaves it, some pair can always be split off, and nothing is lost.
class SwitchRemoval {
 public:
  /// `links[i]` is the link of the network that arc i stands for; `capacities` are in trees.
  SwitchRemoval(std::span<const Arc> arcs, std::span<const std::int64_t> capacities,
                const Demand& demand, std::uint32_t trees);

  /// Splits off all nodes that are not sinks. Nodes must be numbered so that sinks stay.
  void run(const Pace& pace);

  /// True if capacity was lost: then the trees may no longer fit.
  [[nodiscard]] bool lossy() const { return lossy_; }

  /// The edges that remain. Their strands name arcs by index.
  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::int64_t capacity = 0;
    std::vector<Strand> strands{};
  };
  [[nodiscard]] std::vector<Edge> edges() const;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// The arcs of one node, in the order in which they were made.
  struct Ends {
    std::vector<std::uint32_t> in;
    std::vector<std::uint32_t> out;
  };

  /// An arc into a switch and one out of it.
  struct Pair {
    std::uint32_t in;
    std::uint32_t out;
  };

  std::uint32_t arc(std::uint32_t from, std::uint32_t to);
  void store_flows(std::span<const Arc> arcs, const Demand& demand, std::uint32_t trees);
  void remove(std::uint32_t node, const Pace& pace);
  bool split_evenly(const std::vector<Pair>& pairs, const Pace& pace);
  [[nodiscard]] std::int64_t capacity_between(std::uint32_t from, std::uint32_t to) const;
  void drop_rest(std::uint32_t node);
  std::int64_t split(std::uint32_t in, std::uint32_t out, std::int64_t wanted);
  [[nodiscard]] std::int64_t missing_after(std::uint32_t sink, std::uint32_t in, std::uint32_t out,
                                           std::uint32_t across, std::int64_t amount);
  void undo(std::uint32_t sink, std::uint32_t in, std::uint32_t out, std::uint32_t across,
            std::int64_t capacity_across);
  std::int64_t reroute(std::vector<std::int64_t>& flow, std::uint32_t from, std::uint32_t to,
                       std::int64_t amount);
  void join_strands(Edge& in, Edge& out, Edge* across, std::int64_t amount);

  std::vector<std::uint32_t> sinks_;
  std::vector<bool> stays_;
  std::vector<Edge> arcs_;
  std::vector<Ends> ends_;                        // Indexed by node.
  std::vector<std::vector<std::int64_t>> flows_;  // For each sink, the flow on every arc.
  bool lossy_ = false;

  /// Flows as they were before an attempt to split that rerouted them.
  std::vector<std::pair<std::uint32_t, std::vector<std::int64_t>>> saved_;
  std::vector<std::uint32_t> reached_by_;  // For reroute(): the half-arc into each node.
  std::vector<std::uint32_t> open_;
};

}  // namespace tutti::synthesis
