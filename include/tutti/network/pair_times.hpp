#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// The time in seconds of one message between any two ranks on an otherwise idle network.
class PairTimes {
 public:
  /// Row-major: row r holds the times of messages sent by rank r. Throws invalid_argument unless
  /// there are ranks² times, each finite and not negative.
  TUTTI_API PairTimes(std::uint32_t ranks, std::vector<double> seconds);

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] double operator()(Rank from, Rank to) const {
    return seconds_[std::size_t{from} * ranks_ + to];
  }

 private:
  std::uint32_t ranks_;
  std::vector<double> seconds_;
};

/// The latencies along the route plus `bytes` over its slowest link. Throws unsupported for more
/// than 4096 ranks, since the matrix would not fit in memory.
[[nodiscard]] TUTTI_API PairTimes pair_times(const Network& network, Routes& routes,
                                             std::uint64_t bytes);

/// Reads measured matrices: one line per sender, one value per receiver, separated by commas. The
/// diagonal is ignored. Bandwidths are bytes per second or have a unit (10GB/s); latencies are
/// seconds or have a unit (5us). `latencies` may be empty. Throws invalid_argument that names the
/// line.
[[nodiscard]] TUTTI_API PairTimes pair_times_from_csv(std::string_view bandwidths,
                                                      std::string_view latencies,
                                                      std::uint64_t bytes);

}  // namespace tutti
