#include "api/failure/running_messages.hpp"

#include <vector>

namespace tutti {

RunningMessages::Place RunningMessages::add(const Call& call) {
  const std::lock_guard lock(mutex_);
  return running_.insert(running_.end(), call);
}

void RunningMessages::remove(Place place) {
  const std::lock_guard lock(mutex_);
  running_.erase(place);
}

void RunningMessages::describe(RankStatus& status) const {
  std::vector<RankStatus::Wait> others;
  const auto add = [&](std::vector<RankStatus::Wait>& list, const RankStatus::Wait& wait) {
    const bool is_full = list.size() == RankStatus::most_waits;
    status.has_more_waits = status.has_more_waits || is_full;
    if (!is_full) list.push_back(wait);
    return !is_full;
  };
  const std::lock_guard lock(mutex_);
  for (const Call& call : running_) {
    const bool blocks = call.waiters > 0;
    for (const std::shared_ptr<Message>& message : call.messages) {
      if (message->is_done()) continue;
      const bool has_room =
          add(blocks ? status.waits : others, {.rank = message->peer,
                                               .tag = message->tag,
                                               .receives = message->kind == Message::Kind::receive,
                                               .blocks = blocks});
      if (!has_room) break;
    }
  }
  for (const RankStatus::Wait& each : others) {
    if (!add(status.waits, each)) break;
  }
}

}  // namespace tutti
