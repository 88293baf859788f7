#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace tutti::cli {

/// A process, told apart from a later one that has got its number.
struct FamilyMember {
  pid_t pid = -1;
  pid_t group = -1;
  std::uint64_t begun = 0;  ///< When, as the kernel counts.
};

/// A process and all that descend from it at the moment.
[[nodiscard]] std::vector<FamilyMember> process_family(pid_t head);

/// Kills those that are still the processes they were.
void kill_left(const std::vector<FamilyMember>& family);

}  // namespace tutti::cli
