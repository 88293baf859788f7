#pragma once

#include <chrono>

namespace tutti {

/// By which deadlines are kept: it never goes back.
using Clock = std::chrono::steady_clock;

}  // namespace tutti
