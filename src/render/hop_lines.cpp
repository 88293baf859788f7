#include "render/hop_lines.hpp"

#include <algorithm>

namespace tutti::render {
namespace {

bool alike(const Hop& there, const Hop& back) {
  return there.messages == back.messages && there.chunks == back.chunks &&
         there.adds == back.adds && there.copies == back.copies;
}

}  // namespace

std::vector<HopLine> hop_lines(const HopGraph& graph) {
  std::vector<HopLine> lines;
  for (const auto& [pair, hop] : graph.hops) {
    const auto back = graph.hops.find({pair.second, pair.first});
    const bool both_ways = back != graph.hops.end() && alike(hop, back->second);
    if (both_ways && pair.first > pair.second) continue;
    HopLine line{.from = pair.first, .to = pair.second, .hop = hop, .both_ways = both_ways};
    if (both_ways) {
      line.hop.first = std::min(hop.first, back->second.first);
      line.hop.last = std::max(hop.last, back->second.last);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace tutti::render
