#include <tutti/network/stretch.hpp>

namespace tutti {

Stretch stretch(Routes& routes, std::span<const Hop> hops) {
  Stretch stretch;
  std::uint64_t sum = 0;
  std::vector<LinkId> path;
  for (const Hop& hop : hops) {
    path.clear();
    routes.append(hop.from, hop.to, path);
    const auto count = static_cast<std::uint32_t>(path.size());
    stretch.links.push_back(count);
    sum += count;
    if (count > stretch.worst) {
      stretch.worst = count;
      stretch.worst_hop = hop;
    }
  }
  if (!hops.empty()) stretch.average = static_cast<double>(sum) / static_cast<double>(hops.size());
  return stretch;
}

std::vector<Hop> ring_hops(std::span<const Rank> order) {
  std::vector<Hop> hops;
  for (std::size_t i = 0; order.size() > 1 && i < order.size(); ++i) {
    hops.push_back({.from = order[i], .to = order[(i + 1) % order.size()]});
  }
  return hops;
}

std::vector<std::uint32_t> hops_per_link(const Network& network, Routes& routes,
                                         std::span<const Hop> hops) {
  std::vector<std::uint32_t> counts(network.links.size());
  std::vector<LinkId> path;
  for (const Hop& hop : hops) {
    path.clear();
    routes.append(hop.from, hop.to, path);
    for (const LinkId link : path) ++counts[link.index()];
  }
  return counts;
}

}  // namespace tutti
