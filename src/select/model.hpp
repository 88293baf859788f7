#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "select/effort.hpp"

namespace tutti {

/// What each kind of effort costs, in seconds, while data is no longer than `up_to`: short data
/// stays in caches, long data does not.
struct Rates {
  std::uint64_t up_to = ~std::uint64_t{0};
  std::array<double, Effort::kinds> seconds{};

  friend bool operator==(const Rates&, const Rates&) = default;
};

/// How long a collective takes, as a price for each kind of effort.
struct Model {
  std::vector<Rates> rates;  ///< In order of `up_to`; the last is for all that is longer.

  /// Requires: rates is not empty.
  [[nodiscard]] double seconds(const Effort& effort, std::uint64_t bytes) const;

  friend bool operator==(const Model&, const Model&) = default;
};

/// What was seen: so much effort, on so much data, took so long.
struct Observation {
  Effort effort;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// The model that explains what was seen with the least relative errors, squared and summed, and no
/// rate below zero. Where too little was seen of some sizes, those of the next are taken.
[[nodiscard]] Model fit(std::span<const Observation> observations);

}  // namespace tutti
