#pragma once

#include <string>
#include <string_view>

#include "api/communicator_impl.hpp"

namespace tutti {

/// What the user says by TUTTI_TIMEOUT, TUTTI_TRANSPORT, TUTTI_SECRET, TUTTI_TLS,
/// TUTTI_HOSTID, TUTTI_SOCKET_IFNAME, TUTTI_PORT_RANGE, TUTTI_LOG_JSONL, TUTTI_PROFILE, TUTTI_ALGO,
/// TUTTI_RULES, TUTTI_PROTO, TUTTI_SLICE and TUTTI_TOPO_FILE. Throws invalid_argument that names
/// the variable and what it may be.
[[nodiscard]] CommunicatorSettings settings_from_environment();
/// With a secret in place of TUTTI_SECRET.
[[nodiscard]] CommunicatorSettings settings_from_environment(std::string_view secret);

/// Which way a text names: "auto", "shm" or "tcp". Throws invalid_argument that names `source`.
[[nodiscard]] Way way_from(const std::string& source, std::string_view text);

/// Sets the number by which ranks see whether they choose algorithms alike, after a change of what
/// they are chosen by.
void note_choices(CommunicatorSettings& settings);

/// A line for each TUTTI_… that is set and means nothing to tutti, with what may have been meant.
[[nodiscard]] std::string unknown_variables();

}  // namespace tutti
