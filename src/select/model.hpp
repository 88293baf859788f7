#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "select/effort.hpp"

namespace tutti {

/// The price of each kind of effort in seconds, for data up to `up_to` bytes. Short data stays in
/// caches, long data does not.
struct Rates {
  std::uint64_t up_to = ~std::uint64_t{0};
  std::array<double, Effort::kinds> seconds{};

  friend bool operator==(const Rates&, const Rates&) = default;
};

/// The time of a collective, as a price for each kind of effort.
struct Model {
  std::vector<Rates> rates;  ///< Sorted by `up_to`; the last one applies to all larger sizes.

  /// Requires: rates is not empty.
  [[nodiscard]] double seconds(const Effort& effort, std::uint64_t bytes) const;

  friend bool operator==(const Model&, const Model&) = default;
};

/// A measured time together with its effort and data size.
struct Observation {
  Effort effort;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// Fits a model by least squares of the relative errors, with no negative rate. If there are too
/// few observations in a range of sizes, the rates of the next range are used.
[[nodiscard]] Model fit(std::span<const Observation> observations);

}  // namespace tutti
