#pragma once

#include <string>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// Builds the network of a spec ("torus:4x4") or reads it from a .json or .xml file. The path of an
/// .xml file can be followed by the number of such hosts: "dgx.xml:hosts=4". Throws
/// invalid_argument that names the file and the line.
[[nodiscard]] TUTTI_API Network load_network(const std::string& spec_or_path);

}  // namespace tutti
