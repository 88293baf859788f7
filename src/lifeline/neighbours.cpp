#include "lifeline/neighbours.hpp"

#include <set>

namespace tutti {

std::vector<std::uint32_t> neighbours_of(std::uint32_t self, std::uint32_t members,
                                         std::uint32_t fully_connected) {
  std::set<std::uint32_t> found;
  if (members <= fully_connected) {
    for (std::uint32_t member = 0; member < members; ++member) found.insert(member);
  } else {
    for (std::uint32_t distance = 1; distance <= members / 2; distance *= 2) {
      found.insert((self + distance) % members);
      found.insert((self + members - distance) % members);
    }
  }
  found.erase(self);
  return {found.begin(), found.end()};
}

}  // namespace tutti
