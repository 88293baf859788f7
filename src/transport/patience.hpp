#pragma once

#include <chrono>
#include <cstdint>

namespace tutti {

/// How a rank waits: spin, then yield, then sleep.
struct Patience {
  std::uint32_t spins = 0;             ///< Number of polls without yielding.
  std::uint32_t yields = 0;            ///< Number of polls that yield the core, after the spins.
  std::chrono::milliseconds nap{100};  ///< The longest sleep at a time, after the yields.
};

}  // namespace tutti
