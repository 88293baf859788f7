#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include "lifeline/rank_status.hpp"
#include "messages/message.hpp"

namespace tutti {

/// The messages of one communicator that have begun and are not done: when the communicator fails,
/// the ranks find out by them who waits for whom. Thread-safe; holds no other lock meanwhile.
class RunningMessages {
 public:
  using Messages = std::span<const std::shared_ptr<Message>>;
  using Waiters = std::atomic<std::uint32_t>;
  /// Messages that were started together, and how many threads wait for all of them. Both must stay
  /// in place until the call is removed.
  struct Call {
    Messages messages;
    const Waiters& waiters;
  };
  using Place = std::list<Call>::iterator;

  [[nodiscard]] Place add(const Call& call);
  void remove(Place place);

  /// Sets what the rank waits for: first the messages that threads wait for.
  void describe(RankStatus& status) const;

 private:
  mutable std::mutex mutex_;
  std::list<Call> running_;
};

}  // namespace tutti
