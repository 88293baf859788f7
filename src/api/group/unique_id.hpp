#pragma once

#include <cstdint>

#include <tutti/communicator.hpp>
#include <tutti/unique_id.hpp>

#include "api/communicator_impl.hpp"
#include "rendezvous/group.hpp"

namespace tutti {

/// How long the ranks of an id wait for each other.
struct MeetingTime {
  Clock::duration timeout{};
  DeadlineSpan span = DeadlineSpan::first_round;
  Inquiry inquiry{};
};

/// Joins the group of an id. Rank 0 must be in the process that made the id, and closes its
/// listening socket. Throws invalid_argument for an invalid id or rank, and timed_out with the
/// names of the missing ranks.
[[nodiscard]] Communicator join(const UniqueId& id, std::uint32_t rank, std::uint32_t ranks,
                                CommunicatorSettings settings, const MeetingTime& time);

}  // namespace tutti
