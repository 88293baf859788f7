#include "cli/measure/workload.hpp"

#include <algorithm>

namespace tutti::measure {

std::uint64_t Workload::largest_buffer(std::uint32_t ranks) const {
  std::uint64_t most = 0;
  for (const Case& each : cases) most = std::max(most, larger_bytes(each, ranks));
  return most;
}

}  // namespace tutti::measure
