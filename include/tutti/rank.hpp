#pragma once

#include <cstdint>

#include <tutti/id.hpp>

namespace tutti {

/// One participant of a collective: 0 … p−1.
using Rank = Id<struct RankTag, std::uint32_t>;

}  // namespace tutti
