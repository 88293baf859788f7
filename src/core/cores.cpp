#include "core/cores.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// A file about the place of a hardware thread in the machine; empty if the system does not tell.
std::string topology(int cpu, const std::string& what) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + what);
  std::string line;
  std::getline(file, line);
  return line;
}

struct Core {
  int package = 0;
  std::string siblings{};  ///< Its hardware threads, such as "0,8".
  cpu_set_t cpus{};
};

int number(const std::string& text) {
  const bool is_number =
      !text.empty() && text.size() < 9 &&
      std::all_of(text.begin(), text.end(), [](char each) { return each >= '0' && each <= '9'; });
  return is_number ? std::stoi(text) : 0;
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
  std::vector<Core> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::string siblings = topology(cpu, "thread_siblings_list");
    if (siblings.empty()) siblings = std::to_string(cpu);
    auto at = std::find_if(cores.begin(), cores.end(),
                           [&](const Core& core) { return core.siblings == siblings; });
    if (at == cores.end()) {
      at = cores.insert(
          at, {.package = number(topology(cpu, "physical_package_id")), .siblings = siblings});
    }
    CPU_SET(cpu, &at->cpus);
  }
  std::stable_sort(cores.begin(), cores.end(),
                   [](const Core& a, const Core& b) { return a.package < b.package; });
  std::vector<cpu_set_t> sets;
  sets.reserve(cores.size());
  for (const Core& core : cores) sets.push_back(core.cpus);
  return sets;
}

std::vector<cpu_set_t> core_shares(std::uint32_t ranks) {
  std::vector<cpu_set_t> cores;
  try {
    cores = allowed_cores();
  } catch (const Error&) {
    return {};
  }
  if (ranks == 0 || ranks > cores.size()) return {};
  std::vector<cpu_set_t> shares(ranks);
  for (std::size_t i = 0; i < cores.size(); ++i) {
    cpu_set_t& share = shares[i * ranks / cores.size()];
    CPU_OR(&share, &share, &cores[i]);
  }
  return shares;
}

void stay_on(const cpu_set_t& core) { ::sched_setaffinity(0, sizeof core, &core); }

}  // namespace tutti
