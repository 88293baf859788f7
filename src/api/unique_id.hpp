#pragma once

#include <cstdint>
#include <string>

#include <tutti/communicator.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {

/// The longest text that make_unique_id() returns.
inline constexpr std::size_t unique_id_length = 127;

/// Begins to listen, on loopback or, if there is a TUTTI_SECRET, on the addresses of this host, and
/// returns where: "tutti1 <key> <port> <address>...", with as many addresses as find room. Whoever
/// knows it (and the TUTTI_SECRET) can join.
[[nodiscard]] std::string make_unique_id();

/// Joins the communicator of that id; rank 0 must be in the process that made it, and closes what
/// listens there. Throws invalid_argument for an id or a rank that cannot be right, timed_out that
/// names who is missing.
[[nodiscard]] Communicator join(const std::string& id, std::uint32_t ranks, std::uint32_t rank);
/// With these settings, and not later than so.
[[nodiscard]] Communicator join(const std::string& id, std::uint32_t ranks, std::uint32_t rank,
                                CommunicatorSettings settings, Clock::duration timeout);

}  // namespace tutti
