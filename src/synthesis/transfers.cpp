#include "synthesis/transfers.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::synthesis {
namespace {

/// One end of a transfer.
struct End {
  std::uint32_t round;
  std::uint32_t chunk;
  bool receives;
  std::uint32_t peer;

  friend bool operator<(const End& a, const End& b) {
    return std::tie(a.round, a.chunk, a.receives, a.peer) <
           std::tie(b.round, b.chunk, b.receives, b.peer);
  }
};

Program program_of(std::vector<End>& ends, std::uint32_t rounds) {
  // Both ends sort the messages of a round by chunk, so that they agree on their order.
  std::sort(ends.begin(), ends.end());
  Program program(rounds);
  program.reserve(ends.size());
  std::vector<Rank> peers;
  for (std::size_t i = 0; i < ends.size();) {
    const End& end = ends[i];
    const ChunkRange chunk{Chunk{end.chunk}};
    if (end.receives) {
      program.receive(end.round, end.peer, chunk);
      ++i;
      continue;
    }
    peers.clear();
    for (; i < ends.size() && ends[i].round == end.round && ends[i].chunk == end.chunk &&
           !ends[i].receives;
         ++i) {
      peers.emplace_back(ends[i].peer);
    }
    program.send(end.round, peers, std::span(&chunk, 1));
  }
  return program;
}

}  // namespace

std::vector<Program> programs_of(const Distribution& distribution, std::uint32_t ranks) {
  std::vector<std::vector<End>> ends(ranks);
  for (const Transfer& each : distribution.transfers) {
    ends[each.from].push_back({each.round, each.chunk, false, each.to});
    ends[each.to].push_back({each.round, each.chunk, true, each.from});
  }
  std::vector<Program> programs;
  programs.reserve(ranks);
  for (std::vector<End>& each : ends) {
    programs.push_back(program_of(each, distribution.rounds));
    each = {};
  }
  return programs;
}

}  // namespace tutti::synthesis
