#include "sim/busiest_links.hpp"

#include <algorithm>

namespace tutti {

std::vector<BusyLink> busiest_links(const Simulation& simulation, const Network& network,
                                    std::size_t count) {
  std::vector<BusyLink> links;
  for (std::uint32_t i = 0; i < simulation.links.size(); ++i) {
    const LinkUse& use = simulation.links[i];
    if (use.bytes == 0) continue;
    const double most = network.links[i].bytes_per_second * simulation.seconds;
    links.push_back({.link = LinkId{i}, .use = use, .utilisation = use.bytes / most});
  }
  std::stable_sort(links.begin(), links.end(), [](const BusyLink& a, const BusyLink& b) {
    return a.utilisation > b.utilisation;
  });
  if (links.size() > count) links.resize(count);
  return links;
}

}  // namespace tutti
