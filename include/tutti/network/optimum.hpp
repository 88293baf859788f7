#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// A fraction in lowest terms.
struct Fraction {
  std::uint64_t above = 0;
  std::uint64_t below = 1;

  [[nodiscard]] double value() const {
    return static_cast<double>(above) / static_cast<double>(below);
  }

  friend bool operator==(const Fraction&, const Fraction&) = default;
};

/// "64/15", or "4" for 4/1.
[[nodiscard]] TUTTI_API std::string to_string(Fraction fraction);

/// The bottleneck cut: the set of nodes with the least outgoing bandwidth per rank inside.
struct Cut {
  /// All nodes of the set, and the number of ranks among them.
  std::vector<NodeId> inside{};
  std::uint32_t ranks = 0;
  /// Bytes per second over all links that leave the set.
  double leaving = 0;
};

/// The bandwidths that no schedule on a network can exceed, with any overlap: bytes of the whole
/// buffer per second (algorithmic bandwidth), for buffers so large that latency does not matter.
/// docs/networks.md has the proofs. Ranks may forward data they have received and reduce it;
/// switches only forward.
struct Optimum {
  /// With M bytes on N ranks, an allgather takes at least (M/N)·max over all cuts of (ranks inside
  /// / bandwidth leaving), and some schedule reaches this bound: Zhao et al., "ForestColl:
  /// throughput-optimal collective communications on heterogeneous network fabrics", 2024.
  Fraction allgather{};
  /// The same with all links reversed.
  Fraction reduce_scatter{};
  /// If the ranks are divided into m groups, every byte crosses between groups at least 2(m−1)
  /// times; and every byte leaves each group. If every link has a reverse link of the same
  /// bandwidth and there are no switches, some schedule reaches this bound; otherwise it may be out
  /// of reach.
  Fraction allreduce{};
  /// A reduce_scatter followed by an allgather, each at its optimum. Some schedule reaches it, and
  /// other schedules may be faster. Never above `allreduce`.
  Fraction composed_allreduce{};
  /// The bottleneck cut of the allgather.
  Cut cut{};
  /// The groups of ranks that bound the allreduce, and the bytes per second that can leave them,
  /// all together; or enter them. If `one_way`, there are two groups, and it is the bandwidth from
  /// the first to the second.
  std::vector<std::vector<Rank>> groups{};
  double between = 0;
  bool one_way = false;
};

/// Computes the optimum exactly, by maximum flows. Throws invalid_argument if the network is not
/// valid or has only one rank, and unsupported if its bandwidths have no common divisor such that
/// all their multiples fit in 64 bits.
[[nodiscard]] TUTTI_API Optimum optimum(const Network& network);

}  // namespace tutti
