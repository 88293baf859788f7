#pragma once

#include <cstdint>

namespace tutti {

/// One participant of a collective: 0 … p−1. A number, since programs compute with ranks.
using Rank = std::uint32_t;

}  // namespace tutti
