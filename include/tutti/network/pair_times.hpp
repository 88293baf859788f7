#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// How long one message takes between any two ranks when nothing else is under way, in seconds.
class PairTimes {
 public:
  /// Row by row: what rank 0 sends first. Throws invalid_argument unless there are ranks² times,
  /// each finite and not negative.
  TUTTI_API PairTimes(std::uint32_t ranks, std::vector<double> seconds);

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] double operator()(Rank from, Rank to) const {
    return seconds_[std::size_t{from.index()} * ranks_ + to.index()];
  }

 private:
  std::uint32_t ranks_;
  std::vector<double> seconds_;
};

/// Latencies along the route, and `bytes` over its thinnest link. Throws unsupported beyond 4096
/// ranks, whose pairs would fill the memory.
[[nodiscard]] TUTTI_API PairTimes pair_times(const Network& network, Routes& routes,
                                             std::uint64_t bytes);

/// Of measured matrices: a line for each sender with a value for each receiver, separated by
/// commas; those from a rank to itself are not read. Bandwidths are bytes per second or such as
/// 10GB/s; latencies seconds or such as 5us, and may be missing altogether. Throws invalid_argument
/// that names the line.
[[nodiscard]] TUTTI_API PairTimes pair_times_from_csv(std::string_view bandwidths,
                                                      std::string_view latencies,
                                                      std::uint64_t bytes);

}  // namespace tutti
