#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/communicator_settings.hpp"

namespace tutti {

/// Reads TUTTI_TIMEOUT, TUTTI_TRANSPORT, TUTTI_SECRET, TUTTI_TLS, TUTTI_HOSTID,
/// TUTTI_SOCKET_IFNAME, TUTTI_PORT_RANGE, TUTTI_LOG_JSONL, TUTTI_PROFILE, TUTTI_ALGO, TUTTI_RULES,
/// TUTTI_PROTO, TUTTI_SLICE, TUTTI_ADOPT and TUTTI_TOPO_FILE. Throws invalid_argument that names
/// the variable and its allowed values.
[[nodiscard]] CommunicatorSettings settings_from_environment();
/// The same with a secret in place of TUTTI_SECRET, unless it is empty.
[[nodiscard]] CommunicatorSettings settings_from_environment(std::string_view secret);
/// `given`, or TUTTI_SECRET if it is empty; with TUTTI_TLS.
[[nodiscard]] Secret secret_of_user(std::string_view given);

/// Reads TUTTI_ORDER: for each rank of the group its number as the launcher gave it. Empty if not
/// set. Throws invalid_argument unless it names each rank once.
[[nodiscard]] std::vector<Rank> order_from_environment(const CommunicatorSettings& settings,
                                                       std::uint32_t ranks);

/// Parses the choice of transports: "auto", of which nothing is left, or a TransportRow::choice.
/// Throws invalid_argument that names `source`.
[[nodiscard]] std::string transport_from(const std::string& source, std::string_view text);

/// Parses CommunicatorOptions::adopt. Throws invalid_argument that names `source`.
[[nodiscard]] std::size_t adopt_from(const std::string& source, std::string_view text);

/// Adds "name=value" to what the choice of algorithms is based on, for errors about ranks whose
/// choices differ. What is added last comes first.
void note_origin(CommunicatorSettings& settings, const std::string& name, std::string_view value);

/// Recomputes the digest by which ranks detect that they would choose different algorithms. Call it
/// after a change of profile, rules, network, places or shape.
void note_choices(CommunicatorSettings& settings);

/// Returns a line for each TUTTI_… variable that is set but unknown, with the most similar name.
[[nodiscard]] std::string unknown_variables();

}  // namespace tutti
