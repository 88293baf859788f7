#pragma once

#include "api/communicator_impl.hpp"

namespace tutti {

/// What the user says by TUTTI_TIMEOUT, TUTTI_TRANSPORT, TUTTI_SECRET, TUTTI_HOSTID,
/// TUTTI_SOCKET_IFNAME, TUTTI_PORT_RANGE and TUTTI_LOG_JSONL. Throws invalid_argument that names
/// the variable and what it may be.
[[nodiscard]] CommunicatorSettings settings_from_environment();

}  // namespace tutti
