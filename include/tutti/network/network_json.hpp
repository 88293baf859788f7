#pragma once

#include <string>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// Writes the network as JSON, one node or link per line. docs/networks.md describes the format.
[[nodiscard]] TUTTI_API std::string to_json(const Network& network);

/// The inverse of to_json(). Of the wirings only that of a torus is written, so the others are
/// lost. Throws invalid_argument that names the line and what is expected there. The network
/// returned is valid: see Network::check().
[[nodiscard]] TUTTI_API Network network_from_json(std::string_view text);

}  // namespace tutti
