#pragma once

#include <string>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// Writes the network in the Graphviz language: `tutti topo dot torus:4x4 | neato -Tsvg`. Two
/// links that differ only in direction become one line without arrows.
[[nodiscard]] TUTTI_API std::string to_dot(const Network& network);

}  // namespace tutti
