#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exec/message.hpp"
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
  /// True if a rank has stood down: data read in place from its memory may be invalid.
  [[nodiscard]] virtual bool has_stood_down(std::uint32_t rank) const = 0;
  /// A message that no thread waits for has failed. It is not done yet: the owner calls
  /// Messenger::fail() when it knows the cause. Called without any lock.
  virtual void note_failure(std::shared_ptr<Message> message, std::exception_ptr cause) = 0;
};

/// Matches the messages of one communicator with posted receives. In order: a message matches the
/// first receive that fits, and a receive matches the first message that fits.
///
/// Only the messenger calls it, with its mutex held.
class Inbox {
 public:
  /// A message that arrived before a matching receive was posted.
  struct Unexpected {
    std::uint32_t rank = 0;
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;
    bool is_request = false;   ///< Rendezvous: its data is still at the sender.
    bool is_complete = false;  ///< All its data has arrived.
    std::vector<std::byte> data{};
    std::shared_ptr<Message> own_send{};  ///< For a message to self: the send with the data.
    std::shared_ptr<Message> taken_by{};  ///< The matching receive, waiting for completion.
  };
  using Arrival = std::shared_ptr<Unexpected>;
  [[nodiscard]] static Arrival arrival_of(const Envelope& envelope);

  Inbox(const Membership& membership, MessageOwner& owner);

  [[nodiscard]] std::uint64_t context() const { return context_; }
  [[nodiscard]] MessageOwner& owner() const { return owner_; }
  [[nodiscard]] std::uint32_t self() const { return self_; }
  [[nodiscard]] std::uint32_t member(std::uint32_t rank) const { return members_[rank]; }
  /// The rank of a member; none if it is not in this communicator.
  [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t member) const;

  /// Removes and returns the first posted receive that matches; null if none.
  [[nodiscard]] std::shared_ptr<Message> match(std::uint32_t rank, std::uint32_t tag);
  /// The first unexpected message that matches; null if none.
  [[nodiscard]] Arrival find(std::uint32_t rank, std::uint32_t tag) const;
  void take(const Arrival& arrival);

  void post(std::shared_ptr<Message> receive) { posted_.push_back(std::move(receive)); }
  void keep(Arrival arrival) { unexpected_.push_back(std::move(arrival)); }
  /// Removes a posted receive. False if it is not posted.
  bool withdraw(const Message& receive);

  /// Sends to a rank that wait for credit.
  [[nodiscard]] std::deque<std::shared_ptr<Message>>& waiting(std::uint32_t rank) {
    return sending_[rank].waiting;
  }
  /// Credit in use: the cost of messages sent to a rank that it has not taken yet.
  [[nodiscard]] std::uint64_t& untaken(std::uint32_t rank) { return sending_[rank].untaken; }
  /// Bytes taken from a rank for which no credit has been returned yet.
  [[nodiscard]] std::uint64_t& taken(std::uint32_t rank) { return sending_[rank].taken; }

  [[nodiscard]] const std::list<std::shared_ptr<Message>>& posted() const { return posted_; }
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// No message will be sent or received any more, and the owner is not asked any more. Drops all
  /// messages: they hold a pointer to the inbox, so this breaks the reference cycle.
  void close() {
    is_closed_ = true;
    posted_.clear();
    for (auto& [rank, each] : sending_) each.waiting.clear();
  }

 private:
  struct Sending {
    std::deque<std::shared_ptr<Message>> waiting{};
    std::uint64_t untaken = 0;
    std::uint64_t taken = 0;
  };

  std::uint64_t context_;
  MessageOwner& owner_;
  std::uint32_t self_;
  std::vector<std::uint32_t> members_;
  std::unordered_map<std::uint32_t, Sending> sending_;
  std::list<std::shared_ptr<Message>> posted_;
  std::list<Arrival> unexpected_;
  bool is_closed_ = false;

  friend class Messenger;
  std::uint32_t asking_ = 0;  // Threads that call the owner without the messenger's mutex.
};

}  // namespace tutti
