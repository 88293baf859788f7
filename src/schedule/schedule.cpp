#include <algorithm>

#include <tutti/schedule/schedule.hpp>

namespace tutti {

std::uint32_t Schedule::rounds() const {
  std::uint32_t most = 0;
  for (const Program& program : programs) most = std::max(most, program.rounds());
  return most;
}

}  // namespace tutti
