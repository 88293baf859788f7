#pragma once

#include <cstdint>

#include <tutti/network/network.hpp>

#include "synthesis/transfers.hpp"

namespace tutti::synthesis {

/// The rate in bytes per second at which every rank can send to all others at the same time along
/// the routes of the network; `reversed`: receive from all others. The slowest link decides.
[[nodiscard]] double direct_rate(const Network& network, bool reversed);

/// Every rank sends its chunk to all others.
[[nodiscard]] Distribution direct(std::uint32_t ranks);

}  // namespace tutti::synthesis
