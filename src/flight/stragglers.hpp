#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "flight/witness.hpp"

namespace tutti {

/// Who comes last again and again.
struct Straggler {
  std::uint32_t rank = 0;
  std::uint64_t calls = 0;      ///< That all ranks remember,
  std::uint64_t last_in = 0;    ///< and in how many of them it began last.
  double late = 0;              ///< Seconds after the median rank, in the median of those.
  double share = 0;             ///< Of the time from call to call.
  bool by_many_clocks = false;  ///< Hosts differ, and perhaps their clocks.
};

/// The rank that was last in most calls, if that is more than chance and takes time that counts.
[[nodiscard]] std::optional<Straggler> find_straggler(std::span<const Witness> witnesses);

}  // namespace tutti
