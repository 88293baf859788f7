#pragma once

#include <tutti/exchange.hpp>

#include "api/group/fabric_settings.hpp"
#include "api/group/roster.hpp"
#include "net/socket.hpp"
#include "transport/table.hpp"

namespace tutti {

/// Opens this member's listening socket, and exchanges addresses with the others. Members of one
/// network listen at `within_host` alone; otherwise at the addresses of the network interfaces.
///
/// Throws invalid_argument if a secret or a usable address is missing.
[[nodiscard]] TransportRequest::Door listen(Exchange& exchange, const Roster& roster,
                                            const FabricSettings& settings,
                                            const Endpoint& within_host);

}  // namespace tutti
