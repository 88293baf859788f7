#include "messages/posted_receives.hpp"

#include <utility>

namespace tutti {

void PostedReceives::post(std::shared_ptr<Message> receive) {
  const MatchKey pattern{receive->peer, receive->tag};
  if (pattern.pattern_index() != 0) ++with_any_;
  by_pattern_[pattern].push_back({.turn = turns_++, .receive = std::move(receive)});
}

std::shared_ptr<Message> PostedReceives::match(std::uint32_t rank, std::uint32_t tag) {
  auto oldest = by_pattern_.end();
  for (const MatchKey& pattern : MatchKey{rank, tag}.patterns()) {
    const auto found = by_pattern_.find(pattern);
    const bool is_older =
        found != by_pattern_.end() &&
        (oldest == by_pattern_.end() || found->second.front().turn < oldest->second.front().turn);
    if (is_older) oldest = found;
    if (with_any_ == 0) break;
  }
  if (oldest == by_pattern_.end()) return nullptr;
  if (oldest->first.pattern_index() != 0) --with_any_;
  std::shared_ptr<Message> receive = std::move(oldest->second.front().receive);
  oldest->second.pop_front();
  if (oldest->second.empty()) by_pattern_.erase(oldest);
  return receive;
}

void PostedReceives::clear() {
  by_pattern_.clear();
  with_any_ = 0;
}

}  // namespace tutti
