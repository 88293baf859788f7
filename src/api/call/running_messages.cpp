#include "api/call/running_messages.hpp"

namespace tutti {

RunningMessages::Place RunningMessages::add(Messages messages) {
  const std::lock_guard lock(mutex_);
  return running_.insert(running_.end(), messages);
}

void RunningMessages::remove(Place place) {
  const std::lock_guard lock(mutex_);
  running_.erase(place);
}

void RunningMessages::describe(RankStatus& status) const {
  const std::lock_guard lock(mutex_);
  for (const Messages& messages : running_) {
    for (const std::shared_ptr<Message>& message : messages) {
      if (message->is_done()) continue;
      if (status.waits.size() == RankStatus::most_waits) {
        status.has_more_waits = true;
        return;
      }
      status.waits.push_back({.rank = message->peer,
                              .tag = message->tag,
                              .receives = message->kind == Message::Kind::receive});
    }
  }
}

}  // namespace tutti
