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

/// The part of a network that can get its data out least quickly.
struct Cut {
  /// All nodes inside, and how many of them are ranks.
  std::vector<NodeId> inside{};
  std::uint32_t ranks = 0;
  /// Bytes per second over all links that leave.
  double leaving = 0;
};

/// What no schedule on a network can beat, whatever it overlaps: bytes of the whole buffer per
/// second (algorithmic bandwidth), for data so long that latency does not count.
///
/// With M bytes on N ranks, an allgather takes at least (M/N)·max over all cuts of the ranks inside
/// over the bandwidth that leaves, and some schedule takes no more: Zhao et al., "ForestColl:
/// throughput-optimal collective communications on heterogeneous network fabrics", 2024. Ranks may
/// hand on what they have got; switches only forward.
struct Optimum {
  Fraction allgather{};
  /// The same with all links turned round.
  Fraction reduce_scatter{};
  /// One after the other, each at its best.
  Fraction allreduce{};
  /// The tightest cut of the allgather.
  Cut cut{};
};

/// By maximum flows, exactly. Throws invalid_argument if the network is not sound or has one rank
/// only, and unsupported if its bandwidths have no common measure that fits in 64 bits.
[[nodiscard]] TUTTI_API Optimum optimum(const Network& network);

}  // namespace tutti
