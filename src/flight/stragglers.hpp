#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "flight/witness.hpp"

namespace tutti {

/// A rank that is often the last to begin a call.
struct Straggler {
  std::uint32_t rank = 0;
  std::uint64_t calls = 0;      ///< Number of calls recorded by all ranks.
  std::uint64_t last_in = 0;    ///< In how many of them this rank began last.
  double late = 0;              ///< Seconds after the median rank, median over those calls.
  double share = 0;             ///< `late` as a share of the time between calls.
  bool by_many_clocks = false;  ///< The ranks are on several hosts, whose clocks may differ.
};

/// The rank that began more than half of the calls last, if its delay is significant: at least
/// 100 µs and 5 % of the time between calls. None if fewer than 8 calls are known.
[[nodiscard]] std::optional<Straggler> find_straggler(std::span<const Witness> witnesses);

}  // namespace tutti
