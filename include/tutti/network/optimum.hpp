#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

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

/// The bandwidth that no schedule on a network can exceed, with any overlap: bytes of the whole
/// buffer per second (algorithmic bandwidth), for buffers so large that latency does not matter.
///
/// With M bytes on N ranks, an allgather takes at least (M/N)·max over all cuts of (ranks inside /
/// bandwidth leaving), and some schedule reaches this bound: Zhao et al., "ForestColl:
/// throughput-optimal collective communications on heterogeneous network fabrics", 2024. Ranks may
/// forward data they have received; switches only forward.
struct Optimum {
  Fraction allgather{};
  /// The same with all links reversed.
  Fraction reduce_scatter{};
  /// A reduce_scatter followed by an allgather, each at its optimum.
  Fraction allreduce{};
  /// The bottleneck cut of the allgather.
  Cut cut{};
};

/// Computes the optimum exactly, by maximum flows. Throws invalid_argument if the network is not
/// valid or has only one rank, and unsupported if its bandwidths have no common divisor such that
/// all their multiples fit in 64 bits.
[[nodiscard]] TUTTI_API Optimum optimum(const Network& network);

}  // namespace tutti
