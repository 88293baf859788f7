#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>

#include "messages/inbox.hpp"

namespace tutti {

/// The inboxes of a member's communicators. A message may arrive before its communicator is created
/// here, or after it was closed.
class Inboxes {
 public:
  /// Moves the messages that arrived early into the new inbox.
  [[nodiscard]] std::shared_ptr<Inbox> open(const Membership& membership, MessageOwner& owner);
  void close(const Inbox& inbox);

  /// Null if it was not opened yet, or was closed.
  [[nodiscard]] std::shared_ptr<Inbox> find(std::uint64_t context) const;
  /// Whether it was closed lately.
  [[nodiscard]] bool is_closed(std::uint64_t context) const;

  /// Keeps a message of `member` for a communicator that is still to be created.
  void keep_early(std::uint64_t context, std::uint32_t member, Arrival arrival);

 private:
  std::unordered_map<std::uint64_t, std::shared_ptr<Inbox>> open_;
  std::deque<std::uint64_t> closed_;                             // The contexts closed last.
  std::unordered_map<std::uint64_t, std::list<Arrival>> early_;  // `rank` is a member.
};

}  // namespace tutti
