#pragma once

#include <string>
#include <vector>

#include "api/group/fabric.hpp"

namespace tutti {

/// What a rank tells the others about itself.
struct RankDescriptor {
  std::string host;     ///< The same for all processes that can share memory.
  std::string network;  ///< The same for all that reach each other by the loopback interface.
  std::string name;     ///< Of the host, for people.
  int pid = 0;
  int heap_fd = -1;        ///< Of its shared heap; -1 if it has none.
  std::vector<int> cores;  ///< On which it may run.
  Way way = Way::automatic;
  std::string trouble{};  ///< Why it cannot take part; empty if it can.
};

[[nodiscard]] RankDescriptor own_descriptor(const FabricSettings& settings);

/// Why a process cannot hold connections to so many ranks; empty if it can, or if the system does
/// not tell.
[[nodiscard]] std::string trouble_with_descriptors(std::uint32_t ranks);

[[nodiscard]] std::string write(const RankDescriptor& descriptor);
/// The inverse of write().
[[nodiscard]] RankDescriptor read_rank_descriptor(const std::string& text);

}  // namespace tutti
