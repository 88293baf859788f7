#pragma once

#include <cstdint>

#include <tutti/communicator.hpp>

#include "select/forecast.hpp"

namespace tutti::measure {

/// The number of hardware threads that this process may run on.
[[nodiscard]] std::uint32_t own_cores();

/// The party of ranks that are started on this host.
[[nodiscard]] Party local_party(std::uint32_t ranks, Pairs pairs);

/// The party of a communicator. The same on all ranks; needs no communication.
[[nodiscard]] Party party_of(const Communicator& communicator);

}  // namespace tutti::measure
