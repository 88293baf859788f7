#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>

namespace tutti::synthesis {

/// A part of an edge's capacity that takes one path through the network.
struct Strand {
  std::vector<LinkId> links{};
  std::int64_t amount = 0;
};

/// An edge from rank to rank. Its capacity is a number of trees, each of the same rate.
struct RankEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t capacity = 0;
  double bytes_per_second = 0;
  double latency = 0;  ///< Of its widest strand, in seconds.
  std::vector<Strand> strands{};
};

/// A network without its switches: directed edges between ranks with whole capacities.
struct RankGraph {
  std::uint32_t ranks = 0;
  std::vector<RankEdge> edges{};
  std::vector<double> link_rates{};  ///< Bytes per second of each link of the network.
};

/// A spanning tree out of a root, taken `weight` times.
struct Tree {
  std::uint32_t root = 0;
  std::int64_t weight = 1;
  /// The edge into each rank: an index into RankGraph::edges; `none` for the root.
  std::vector<std::uint32_t> edge_into{};
  /// All ranks, parents before children.
  std::vector<std::uint32_t> order{};

  static constexpr std::uint32_t none = UINT32_MAX;
};

}  // namespace tutti::synthesis
