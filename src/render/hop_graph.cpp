#include "render/hop_graph.hpp"

#include <algorithm>
#include <set>

namespace tutti::render {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

template <class Visit>
void for_each_receive(const Schedule& schedule, Visit visit) {
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    for (const Step step : schedule.program(r)) {
      if (step.kind != Step::Kind::receive) continue;
      for (const Rank peer : step.peers) visit(peer, r, step);
    }
  }
}

std::uint64_t chunks_in(const Step& step) {
  std::uint64_t count = 0;
  for (const ChunkRange& range : step.chunks) count += range.count;
  return count;
}

void add(Hop& hop, const Step& step, std::uint64_t chunks) {
  const std::uint32_t round = step.round + 1;
  hop.first = hop.messages == 0 ? round : std::min(hop.first, round);
  hop.last = std::max(hop.last, round);
  ++hop.messages;
  hop.chunks += chunks;
  (step.operands() > 1 ? hop.adds : hop.copies) = true;
}

}  // namespace

HopGraph hop_graph(const Schedule& schedule, std::uint32_t fold, RoundRange rounds) {
  HopGraph graph{.nodes = (schedule.contract.ranks + fold - 1) / fold, .fold = fold};
  for_each_receive(schedule, [&](std::uint32_t from, std::uint32_t to, const Step& step) {
    if (step.round + 1 < rounds.first || step.round + 1 > rounds.last) return;
    if (from / fold == to / fold) {
      ++graph.inside;
      return;
    }
    add(graph.hops[{from / fold, to / fold}], step, chunks_in(step));
  });
  return graph;
}

std::vector<HopGraph> hop_graphs_by_way(const Schedule& schedule, std::size_t most) {
  std::vector<std::set<Pair>> ways(schedule.contract.chunks);
  for_each_receive(schedule, [&](std::uint32_t from, std::uint32_t to, const Step& step) {
    for (const ChunkRange& range : step.chunks) {
      for (std::uint64_t i = 0; i < range.count; ++i) {
        ways[range.first.index() + i].insert({from, to});
      }
    }
  });
  std::vector<std::set<Pair>> distinct = ways;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() > most) return {};
  std::vector<HopGraph> graphs;
  for (const std::set<Pair>& way : distinct) {
    HopGraph graph{.nodes = schedule.contract.ranks};
    for_each_receive(schedule, [&](std::uint32_t from, std::uint32_t to, const Step& step) {
      std::uint64_t chunks = 0;
      for (const ChunkRange& range : step.chunks) {
        for (std::uint64_t i = 0; i < range.count; ++i) {
          chunks += ways[range.first.index() + i] == way ? 1 : 0;
        }
      }
      if (chunks > 0) add(graph.hops[{from, to}], step, chunks);
    });
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

}  // namespace tutti::render
