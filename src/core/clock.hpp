#pragma once

#include <chrono>

namespace tutti {

/// The clock for deadlines. It is monotonic.
using Clock = std::chrono::steady_clock;

}  // namespace tutti
