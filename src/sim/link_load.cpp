#include "sim/link_load.hpp"

#include <tutti/error.hpp>

namespace tutti {

std::vector<LinkLoad> link_loads(const Schedule& schedule, const Layout& layout,
                                 const Network& network, Routes& routes,
                                 std::span<const Rank> places) {
  if (schedule.programs.size() > network.ranks.size()) {
    throw Error(ErrorCode::invalid_argument,
                "the schedule is for " + std::to_string(schedule.programs.size()) + " ranks, but " +
                    network.name + " has " + std::to_string(network.ranks.size()));
  }
  const auto place = [&](Rank rank) { return places.empty() ? rank : places[rank]; };
  std::vector<LinkLoad> loads(network.links.size());
  std::vector<LinkId> path;
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    for (const Step step : schedule.programs[r]) {
      if (step.kind != Step::Kind::send) continue;
      std::uint64_t bytes = 0;
      for (const ChunkRange& range : step.chunks) bytes += layout.size(range);
      for (const Rank peer : step.peers) {
        path.clear();
        routes.append(place(r), place(peer), path);
        for (const LinkId link : path) {
          ++loads[link.index()].messages;
          loads[link.index()].bytes += bytes;
        }
      }
    }
  }
  return loads;
}

std::vector<Hop> hops_of(const Schedule& schedule) {
  std::vector<Hop> hops;
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    for (const Step step : schedule.programs[r]) {
      if (step.kind != Step::Kind::send) continue;
      for (const Rank peer : step.peers) hops.push_back({.from = r, .to = peer});
    }
  }
  return hops;
}

}  // namespace tutti
