#include "cli/measure/party.hpp"

#include <sched.h>

#include <algorithm>

#include "api/communicator_impl.hpp"

namespace tutti::measure {

std::uint32_t own_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&cores)));
}

Party local_party(std::uint32_t ranks, Pairs pairs) {
  const std::uint32_t cores = own_cores();
  return {.ranks = ranks,
          .cores = cores,
          .reach = {.pairs = pairs, .crowded = ranks > cores},
          .hosts = {.dimensions = {ranks, 1}}};
}

Party party_of(const Communicator& communicator) { return internals(communicator).party(); }

}  // namespace tutti::measure
