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

/// One communicator, as its messenger sees it.
class MessageOwner {
 public:
  virtual ~MessageOwner() = default;

  /// Whether check() may have something to say.
  [[nodiscard]] virtual bool is_alarmed() const = 0;
  /// Throws if a message that has been waited for so long will not be done. Called without any
  /// lock.
  virtual void check(const Message& message, Clock::duration waited) = 0;
  /// Whether the process of a rank is gone.
  [[nodiscard]] virtual bool has_ended(std::uint32_t rank) const = 0;
  /// Whether what was read in a rank's own memory may have been something else already.
  [[nodiscard]] virtual bool has_stood_down(std::uint32_t rank) const = 0;
  /// A message that nobody waits for has failed. It is not done yet: the owner calls
  /// Messenger::fail() when it knows the cause. Called without any lock.
  virtual void note_failure(std::shared_ptr<Message> message, std::exception_ptr cause) = 0;
};

/// Where the messages of one communicator meet the receives that they are for. In order of arrival:
/// a message takes the first receive that fits, and a receive the first message.
///
/// Only the messenger calls it, with its mutex held.
class Inbox {
 public:
  /// A message that nobody had asked for when it came.
  struct Unexpected {
    std::uint32_t rank = 0;
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;
    bool is_request = false;   ///< Its data is still with the sender.
    bool is_complete = false;  ///< Its data is here in full.
    std::vector<std::byte> data{};
    std::shared_ptr<Message> own_send{};  ///< Of a message to oneself, whose data is there.
    std::shared_ptr<Message> taken_by{};  ///< A receive that waits until it is complete.
  };
  using Arrival = std::shared_ptr<Unexpected>;

  Inbox(const Membership& membership, MessageOwner& owner);

  [[nodiscard]] std::uint64_t context() const { return context_; }
  [[nodiscard]] MessageOwner& owner() const { return owner_; }
  [[nodiscard]] std::uint32_t self() const { return self_; }
  [[nodiscard]] std::uint32_t member(std::uint32_t rank) const { return members_[rank]; }
  /// None if the member is not in this communicator.
  [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t member) const;

  /// The first receive that is for such a message, which is then no longer posted; null if none.
  [[nodiscard]] std::shared_ptr<Message> match(std::uint32_t rank, std::uint32_t tag);
  /// The first message that is for such a receive; null if none.
  [[nodiscard]] Arrival find(std::uint32_t rank, std::uint32_t tag) const;
  void take(const Arrival& arrival);

  void post(std::shared_ptr<Message> receive) { posted_.push_back(std::move(receive)); }
  void keep(Arrival arrival) { unexpected_.push_back(std::move(arrival)); }
  /// Takes back a receive that has not been matched. False if it was not there.
  bool withdraw(const Message& receive);

  /// Sends that wait until the receiver has taken earlier ones, by rank.
  [[nodiscard]] std::deque<std::shared_ptr<Message>>& waiting(std::uint32_t rank) {
    return sending_[rank].waiting;
  }
  /// How many bytes a rank has not yet taken that were sent unasked.
  [[nodiscard]] std::uint64_t& untaken(std::uint32_t rank) { return sending_[rank].untaken; }
  /// How many bytes of a rank's were taken, and it has not been told.
  [[nodiscard]] std::uint64_t& taken(std::uint32_t rank) { return sending_[rank].taken; }

  [[nodiscard]] const std::list<std::shared_ptr<Message>>& posted() const { return posted_; }
  /// Lets go of messages, which have a pointer to this: none will come or go any more.
  void clear() {
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
};

}  // namespace tutti
