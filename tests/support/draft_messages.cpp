#include "support/draft_messages.hpp"

#include <algorithm>

namespace tutti::test {
namespace {

/// One end of a message: a step, and which of its peers is the other end.
struct End {
  At at;
  std::size_t index;
};

}  // namespace

std::vector<At> places(const Draft& draft) {
  std::vector<At> all;
  for (std::size_t r = 0; r < draft.programs.size(); ++r) {
    for (std::size_t i = 0; i < draft.programs[r].size(); ++i) all.push_back({r, i});
  }
  return all;
}

std::vector<DraftMessage> messages(const Draft& draft) {
  const std::size_t p = draft.programs.size();
  std::vector<std::vector<End>> sent(p * p);
  std::vector<std::vector<End>> received(p * p);
  for (const At& at : places(draft)) {
    const DraftStep& step = draft.programs[at.rank][at.step];
    for (std::size_t k = 0; k < step.peers.size(); ++k) {
      const std::size_t peer = step.peers[k];
      if (peer >= p || peer == at.rank) continue;
      if (step.kind == Step::Kind::send) {
        sent[at.rank * p + peer].push_back({at, k});
      } else {
        received[peer * p + at.rank].push_back({at, k});
      }
    }
  }
  std::vector<DraftMessage> found;
  for (std::size_t pair = 0; pair < p * p; ++pair) {
    for (std::size_t k = 0; k < std::min(sent[pair].size(), received[pair].size()); ++k) {
      const End& one = sent[pair][k];
      const End& other = received[pair][k];
      found.push_back({one.at, one.index, other.at, other.index});
    }
  }
  return found;
}

std::set<At> joined(const Draft& draft, const At& start) {
  const std::vector<DraftMessage> all = messages(draft);
  std::set<At> found{start};
  for (std::size_t size = 0; size != found.size();) {
    size = found.size();
    for (const DraftMessage& each : all) {
      if (found.contains(each.from)) found.insert(each.to);
      if (found.contains(each.to)) found.insert(each.from);
    }
  }
  return found;
}

}  // namespace tutti::test
