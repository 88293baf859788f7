#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "messages/message.hpp"
#include "messages/posted_receives.hpp"
#include "messages/unexpected_messages.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// A communicator as the messenger sees it.
class MessageOwner {
 public:
  virtual ~MessageOwner() = default;

  /// True if check() may throw now.
  [[nodiscard]] virtual bool is_alarmed() const = 0;
  /// Throws if the message will not complete. `waited` is how long it has been waited for. Called
  /// without any lock.
  virtual void check(const Message& message, Clock::duration waited) = 0;
  /// True if the process of a rank has ended.
  [[nodiscard]] virtual bool has_ended(std::uint32_t rank) const = 0;
  /// True if a rank has revoked its memory: data read in place from its memory may be invalid.
  [[nodiscard]] virtual bool has_revoked(std::uint32_t rank) const = 0;
  /// A message that no thread waits for has failed. It is not done yet: the owner calls
  /// Messenger::fail() when it knows the cause. Called without any lock.
  virtual void note_failure(std::shared_ptr<Message> message, std::exception_ptr cause) = 0;
};

/// What the messages of one communicator wait for. In order: a message matches the first receive
/// that fits, and a receive matches the first message that fits.
///
/// Only the messenger calls it, with its mutex held.
class Inbox {
 public:
  Inbox(const Membership& membership, MessageOwner& owner);

  [[nodiscard]] std::uint64_t context() const { return context_; }
  [[nodiscard]] MessageOwner& owner() const { return owner_; }
  [[nodiscard]] std::uint32_t self() const { return self_; }
  [[nodiscard]] std::uint32_t member(std::uint32_t rank) const { return members_[rank]; }
  /// The rank of a member; none if it is not in this communicator.
  [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t member) const;

  [[nodiscard]] PostedReceives& posted() { return posted_; }
  [[nodiscard]] UnexpectedMessages& unexpected() { return unexpected_; }

  /// Credit in use: the cost of eager messages to a rank that it has not taken yet.
  [[nodiscard]] std::uint64_t& untaken(std::uint32_t rank) { return peers_[rank].untaken; }
  /// The cost of eager messages taken from a rank for which no credit has been returned yet.
  [[nodiscard]] std::uint64_t& taken(std::uint32_t rank) { return peers_[rank].taken; }
  /// The number of messages to a rank whose sends are done; and of those from it that have arrived
  /// in full.
  [[nodiscard]] std::uint64_t& sent(std::uint32_t rank) { return peers_[rank].sent; }
  [[nodiscard]] std::uint64_t& arrived(std::uint32_t rank) { return peers_[rank].arrived; }
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> all_sent() const;

  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// No message will be sent or received any more, and the owner is not asked any more. Drops all
  /// messages: they hold a pointer to the inbox, so this breaks the reference cycle.
  void close() {
    is_closed_ = true;
    posted_.clear();
    unexpected_.clear();
  }

 private:
  struct Peer {
    std::uint64_t untaken = 0;
    std::uint64_t taken = 0;
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
  };

  std::uint64_t context_;
  MessageOwner& owner_;
  std::uint32_t self_;
  std::vector<std::uint32_t> members_;
  std::unordered_map<std::uint32_t, Peer> peers_;  // By rank.
  PostedReceives posted_;
  UnexpectedMessages unexpected_;
  bool is_closed_ = false;

  friend class Messenger;
  std::uint32_t asking_ = 0;  // Threads that call the owner without the messenger's mutex.
};

}  // namespace tutti
