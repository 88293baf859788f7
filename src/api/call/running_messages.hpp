#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>

#include "exec/message.hpp"
#include "lifeline/rank_status.hpp"

namespace tutti {

/// The messages of one communicator that have begun and are not done: when the communicator fails,
/// the ranks find out by them who waits for whom. Thread-safe; holds no other lock meanwhile.
class RunningMessages {
 public:
  using Messages = std::span<const std::shared_ptr<Message>>;
  using Place = std::list<Messages>::iterator;

  /// The messages must stay in place until they are removed.
  [[nodiscard]] Place add(Messages messages);
  void remove(Place place);

  /// Sets what the rank waits for.
  void describe(RankStatus& status) const;

 private:
  mutable std::mutex mutex_;
  std::list<Messages> running_;
};

}  // namespace tutti
