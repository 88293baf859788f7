#pragma once

#include <string>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// The network of a spec ("torus:4x4") or of a file whose name ends in .json or .xml; behind the
/// latter may stand how many such hosts there are: "dgx.xml:hosts=4". Throws invalid_argument that
/// names the file and the line.
[[nodiscard]] TUTTI_API Network load_network(const std::string& spec_or_path);

}  // namespace tutti
