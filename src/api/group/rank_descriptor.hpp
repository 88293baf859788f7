#pragma once

#include <string>
#include <vector>

#include "api/group/fabric_settings.hpp"

namespace tutti {

/// Describes a rank to the other ranks.
struct RankDescriptor {
  std::string host;     ///< Equal for all processes that can share memory.
  std::string network;  ///< Equal for all that reach each other by the loopback interface.
  std::string name;     ///< The host name, for messages.
  int pid = 0;
  int heap_fd = -1;             ///< Of its shared heap; -1 if it has none.
  std::uint64_t heap_file = 0;  ///< As in SharedHeap::file().
  std::vector<int> cores;       ///< The cores on which it may run.
  std::string transport{};      ///< As in FabricSettings.
  std::string trouble{};        ///< Why the rank cannot take part; empty if it can.
};

[[nodiscard]] RankDescriptor own_descriptor(const FabricSettings& settings);

/// Returns why this process cannot hold connections to so many ranks. Empty if it can, or if its
/// limit is unknown.
[[nodiscard]] std::string trouble_with_descriptors(std::uint32_t ranks);

[[nodiscard]] std::string write(const RankDescriptor& descriptor);
/// The inverse of write().
[[nodiscard]] RankDescriptor read_rank_descriptor(const std::string& text);

}  // namespace tutti
