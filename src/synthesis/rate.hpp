#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tutti/network/network.hpp>

#include "synthesis/pace.hpp"
#include "topology/max_flow.hpp"

namespace tutti::synthesis {

/// A directed link of a network, possibly turned round.
struct Arc {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes_per_second = 0;
};

/// The nodes that must all receive what each source sends.
struct Demand {
  std::uint32_t nodes = 0;
  std::vector<std::uint32_t> sources{};
  std::vector<std::uint32_t> sinks{};
};

/// A rate as a fraction of whole units.
struct Rate {
  Wide above = 0;
  Wide below = 1;
  double unit = 1;  ///< Bytes per second of one unit.

  [[nodiscard]] double bytes_per_second() const {
    return unit * static_cast<double>(above) / static_cast<double>(below);
  }
};

/// Decides which rates and how many trees a graph has room for. By the theorems of Edmonds (1973)
/// and of Bang-Jensen, Frank and Jackson (1995), trees of a rate from every source exist if and
/// only if every sink can receive from all sources at once at that rate.
class Capacities {
 public:
  Capacities(std::span<const Arc> arcs, Demand demand);

  /// The highest rate at which all sources can send to all sinks, by Newton's method on cuts.
  [[nodiscard]] Rate best_rate(const Pace& pace);

  /// The number of whole trees of rate `rate · part / trees` that each arc can carry.
  [[nodiscard]] std::vector<std::int64_t> whole(const Rate& rate, std::uint32_t trees,
                                                double part) const;
  /// True if `trees` trees from each source fit.
  [[nodiscard]] bool have_room(std::span<const std::int64_t> whole, std::uint32_t trees);

 private:
  /// The maximum flow from all sources to one sink.
  Wide flow_to(std::uint32_t sink);
  void begin_with_single_sinks(Rate& rate) const;

  std::vector<std::uint64_t> units_;  // Bandwidth of each arc.
  std::vector<std::uint32_t> from_;
  std::vector<std::uint32_t> to_;
  double unit_ = 1;
  Demand demand_;
  MaxFlow flow_;
};

/// How many trees leave each source, and how many of them each arc can carry.
struct TreeCount {
  std::uint32_t trees = 1;
  double part = 1;  ///< The share of the best rate.
  std::vector<std::int64_t> capacities{};
};

/// The smallest number of trees, at most `most`, that attains the rate; or, if none does, the one
/// that comes closest.
[[nodiscard]] TreeCount choose_tree_count(Capacities& capacities, const Rate& rate,
                                          std::uint32_t most, const Pace& pace);

}  // namespace tutti::synthesis
