#pragma once

#include <cstdint>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// Settings that an NCCL topology file, which describes one host, does not contain.
struct XmlOptions {
  std::uint32_t hosts = 1;  ///< Number of such hosts. Their k-th NICs are joined by one switch.
};

/// Reads NCCL's topology XML, as written by NCCL_TOPO_DUMP_FILE. GPUs become ranks, CPUs and PCI
/// switches become switches, networks become NICs, NVLinks and NVSwitches become links.
/// docs/networks.md lists the elements that are ignored. Throws invalid_argument that names the
/// position in the file.
[[nodiscard]] TUTTI_API Network network_from_xml(std::string_view text, XmlOptions options = {});

}  // namespace tutti
