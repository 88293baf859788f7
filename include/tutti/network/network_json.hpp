#pragma once

#include <string>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// The network as JSON, one node or link per line. The format is described in docs/networks.md.
[[nodiscard]] TUTTI_API std::string to_json(const Network& network);

/// The inverse of to_json(), but for wirings other than that of a torus, which are not written.
/// Throws invalid_argument that names the line and what should stand there. What is returned is
/// sound: see Network::check().
[[nodiscard]] TUTTI_API Network network_from_json(std::string_view text);

}  // namespace tutti
