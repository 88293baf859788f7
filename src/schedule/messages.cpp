#include "schedule/messages.hpp"

#include <algorithm>

namespace tutti {
namespace {

/// One end of a message, before it is matched.
struct End {
  Rank peer;
  std::uint32_t step;
  std::uint32_t at;  // Index into PerRank::meets.
};

/// The message ends of one kind at one rank, sorted by peer; for each peer in program order.
std::vector<End> ends_by_peer(const Program& program, Step::Kind kind) {
  std::vector<End> ends;
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Step step = program[i];
    for (const Rank peer : step.peers) {
      if (step.kind == kind) ends.push_back({.peer = peer, .step = i, .at = at});
      ++at;
    }
  }
  std::stable_sort(ends.begin(), ends.end(),
                   [](const End& a, const End& b) { return a.peer < b.peer; });
  return ends;
}

}  // namespace

Messages::Messages(const Schedule& schedule) {
  const std::size_t p = schedule.programs.size();
  ranks_.resize(p);
  std::vector<std::vector<End>> receives(p);
  std::size_t unmet = 0;
  for (std::size_t r = 0; r < p; ++r) {
    const Program& program = schedule.programs[r];
    ranks_[r].ends.reserve(program.size());
    std::uint32_t end = 0;
    for (const Step step : program) {
      end += static_cast<std::uint32_t>(step.peers.size());
      ranks_[r].ends.push_back(end);
    }
    ranks_[r].meets.assign(end, none);
    receives[r] = ends_by_peer(program, Step::Kind::receive);
    unmet += receives[r].size();
  }
  for (std::size_t r = 0; r < p; ++r) {
    const Rank self{static_cast<std::uint32_t>(r)};
    const std::vector<End> sends = ends_by_peer(schedule.programs[r], Step::Kind::send);
    for (std::size_t i = 0; i < sends.size();) {
      const Rank peer = sends[i].peer;
      const std::vector<End>& peer_receives = receives[peer];
      auto match = std::lower_bound(peer_receives.begin(), peer_receives.end(), self,
                                    [](const End& end, Rank rank) { return end.peer < rank; });
      for (; i < sends.size() && sends[i].peer == peer; ++i) {
        if (match == peer_receives.end() || match->peer != self) {
          complete_ = false;
          continue;
        }
        ranks_[r].meets[sends[i].at] = match->step;
        ranks_[peer].meets[match->at] = sends[i].step;
        --unmet;
        ++match;
      }
    }
  }
  if (unmet > 0) complete_ = false;
}

std::span<const std::uint32_t> Messages::counterparts(Rank rank, std::size_t step) const {
  const PerRank& own = ranks_[rank];
  const std::size_t begin = step == 0 ? 0 : own.ends[step - 1];
  return {own.meets.data() + begin, own.ends[step] - begin};
}

}  // namespace tutti
