#include "render/traffic.hpp"

#include <map>

#include <tutti/error.hpp>

namespace tutti::render {

std::vector<LinkTraffic> traffic_of(const Schedule& schedule, const Layout& layout,
                                    const Network& network, Routes& routes) {
  if (schedule.contract.ranks > network.rank_count()) {
    throw Error(ErrorCode::invalid_argument,
                "'" + schedule.name + "' is for " + std::to_string(schedule.contract.ranks) +
                    " ranks, but '" + network.name + "' has only " +
                    std::to_string(network.rank_count()) + ": take a larger network");
  }
  std::map<std::pair<Rank, Rank>, std::uint64_t> sent;
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    for (const Step step : schedule.program(Rank{r})) {
      if (step.kind != Step::Kind::send) continue;
      std::uint64_t bytes = 0;
      for (const ChunkRange& range : step.chunks) bytes += layout.size(range);
      for (const Rank peer : step.peers) sent[{Rank{r}, peer}] += bytes;
    }
  }
  std::vector<LinkTraffic> traffic(network.links.size());
  for (const auto& [pair, bytes] : sent) {
    for (const LinkId link : routes.between(pair.first, pair.second)) {
      traffic[link.index()].bytes += static_cast<double>(bytes);
      traffic[link.index()].pairs.push_back(pair);
    }
  }
  return traffic;
}

}  // namespace tutti::render
