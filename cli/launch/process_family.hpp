#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace tutti::cli {

/// A process, identified also by its start time, since ids are reused.
struct FamilyMember {
  pid_t pid = -1;
  pid_t group = -1;
  std::uint64_t begun = 0;  ///< Start time in clock ticks since boot.
};

/// A process and its present descendants.
[[nodiscard]] std::vector<FamilyMember> process_family(pid_t head);

/// Kills those that still run. Processes that have reused an id are left alone.
void kill_left(const std::vector<FamilyMember>& family);

}  // namespace tutti::cli
