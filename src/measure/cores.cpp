#include "measure/cores.hpp"

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include <tutti/error.hpp>

namespace tutti::measure {
namespace {

/// The name of the core of a hardware thread: the list of its siblings, such as "0,8".
std::string core_of(int cpu) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                     "/topology/thread_siblings_list");
  std::string siblings;
  return std::getline(file, siblings) ? siblings : std::to_string(cpu);
}

}  // namespace

std::vector<cpu_set_t> allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    throw Error(ErrorCode::unsupported, "cannot read which cores this process may run on: " +
                                            std::generic_category().message(errno) +
                                            "; do not bind ranks to cores");
  }
  std::vector<std::pair<std::string, cpu_set_t>> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string core = core_of(cpu);
    auto at = cores.begin();
    while (at != cores.end() && at->first != core) ++at;
    if (at == cores.end()) at = cores.insert(at, {core, cpu_set_t{}});
    CPU_SET(cpu, &at->second);
  }
  std::vector<cpu_set_t> sets;
  sets.reserve(cores.size());
  for (const auto& [name, set] : cores) sets.push_back(set);
  return sets;
}

}  // namespace tutti::measure
