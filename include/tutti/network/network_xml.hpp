#pragma once

#include <cstdint>
#include <string_view>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// What a file of NCCL's topology, of one host, leaves open.
struct XmlOptions {
  std::uint32_t hosts = 1;  ///< How many such hosts are joined, their k-th NICs by one switch.
};

/// Reads NCCL's topology XML, as NCCL_TOPO_DUMP_FILE writes it: GPUs are ranks, CPUs and PCI
/// switches are switches, networks are NICs, NVLinks and NVSwitches are links between. What does
/// not map is left out: docs/networks.md says what. Throws invalid_argument that names the place.
[[nodiscard]] TUTTI_API Network network_from_xml(std::string_view text, XmlOptions options = {});

}  // namespace tutti
