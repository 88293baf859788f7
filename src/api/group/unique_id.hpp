#pragma once

#include <cstdint>

#include <tutti/communicator.hpp>
#include <tutti/unique_id.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {

/// Joins the group of that id, not later than so; rank 0 must be in the process that made the id,
/// and closes what listens there. Throws invalid_argument for an id or a rank that cannot be right,
/// timed_out that names who is missing.
[[nodiscard]] Communicator join(const UniqueId& id, std::uint32_t rank, std::uint32_t ranks,
                                CommunicatorSettings settings, Clock::duration timeout);

}  // namespace tutti
