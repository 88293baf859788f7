#pragma once

#include <chrono>
#include <cstdint>

namespace tutti {

/// How a rank waits for others.
struct Patience {
  std::uint32_t spins = 0;             ///< So often it looks again at once,
  std::uint32_t yields = 0;            ///< then so often after letting others run; then it sleeps,
  std::chrono::milliseconds nap{100};  ///< not longer than this at a time.
};

}  // namespace tutti
