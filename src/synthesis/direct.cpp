#include "synthesis/direct.hpp"

#include <algorithm>
#include <limits>

#include <tutti/network/routes.hpp>

namespace tutti::synthesis {

double direct_rate(const Network& network, bool reversed) {
  Routes routes(network);
  std::vector<std::uint64_t> load(network.links.size(), 0);
  std::vector<LinkId> links;
  for (std::uint32_t a = 0; a < network.rank_count(); ++a) {
    for (std::uint32_t b = 0; b < network.rank_count(); ++b) {
      if (a == b) continue;
      links.clear();
      routes.append(reversed ? b : a, reversed ? a : b, links);
      for (const LinkId link : links) ++load[link.index()];
    }
  }
  double rate = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < load.size(); ++i) {
    if (load[i] == 0) continue;
    rate = std::min(rate, network.links[i].bytes_per_second / static_cast<double>(load[i]));
  }
  return rate;
}

Distribution direct(std::uint32_t ranks) {
  Distribution result{.rounds = 1, .chunks = 1};
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = 0; b < ranks; ++b) {
      if (a != b) result.transfers.push_back({.round = 0, .from = a, .to = b, .chunk = a});
    }
  }
  return result;
}

}  // namespace tutti::synthesis
