#include "cli/choice/party.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace tutti::cli {
namespace {

/// Where a rank is.
struct Place {
  std::array<char, 64> host{};
  cpu_set_t cores{};
};

Place own_place() {
  Place place;
  if (::gethostname(place.host.data(), place.host.size() - 1) != 0) place.host[0] = '?';
  CPU_ZERO(&place.cores);
  ::sched_getaffinity(0, sizeof place.cores, &place.cores);
  return place;
}

Pairs pairs_of(const Communicator& communicator, std::size_t hosts) {
  const std::string words = communicator.description();
  if (words.ends_with("threads of one process")) return Pairs::process;
  if (words.find("TCP") == std::string::npos) return Pairs::host;
  return hosts > 1 ? Pairs::network : Pairs::loopback;
}

}  // namespace

std::uint32_t own_cores() {
  const Place own = own_place();
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&own.cores)));
}

Party local_party(std::uint32_t ranks, Pairs pairs) {
  const std::uint32_t cores = own_cores();
  return {.ranks = ranks,
          .cores = cores,
          .reach = {.pairs = pairs, .crowded = ranks > cores},
          .hosts = {.dimensions = {ranks, 1}}};
}

Party party_of(Communicator& communicator) {
  const std::array<Place, 1> own{own_place()};
  std::vector<Place> places(communicator.size());
  communicator.all_gather(own, places);
  std::map<std::string, std::pair<std::uint32_t, cpu_set_t>> hosts;
  for (const Place& each : places) {
    auto& [ranks, cores] = hosts[each.host.data()];
    if (ranks++ == 0) CPU_ZERO(&cores);
    CPU_OR(&cores, &cores, &each.cores);
  }
  Party party{.ranks = communicator.size(), .cores = 0};
  party.reach.pairs = pairs_of(communicator, hosts.size());
  for (const auto& [host, load] : hosts) {
    const auto cores = static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&load.second)));
    party.cores += cores;
    party.reach.crowded = party.reach.crowded || load.first > cores;
  }
  return party;
}

}  // namespace tutti::cli
