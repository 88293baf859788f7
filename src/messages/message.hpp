#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>

#include <tutti/message.hpp>

#include "core/clock.hpp"

namespace tutti {

class Inbox;

/// One point-to-point send or receive of one rank, from its start to its completion.
class Message {
 public:
  enum class Kind : std::uint8_t { send, receive };

  /// Called when the message is done.
  class Completion {
   public:
    virtual ~Completion() = default;
    /// Called once, from any thread. Must neither wait nor call the messenger.
    virtual void complete() = 0;
  };

  [[nodiscard]] static std::shared_ptr<Message> sending(const Outgoing& what) {
    auto message = std::make_shared<Message>();
    message->kind = Kind::send;
    message->peer = what.to;
    message->tag = what.tag;
    message->data = static_cast<std::byte*>(const_cast<void*>(what.data));  // Only read.
    message->bytes = what.bytes;
    return message;
  }
  [[nodiscard]] static std::shared_ptr<Message> receiving(const Incoming& what) {
    auto message = std::make_shared<Message>();
    message->kind = Kind::receive;
    message->peer = what.from;
    message->tag = what.tag;
    message->data = static_cast<std::byte*>(what.data);
    message->bytes = what.bytes;
    message->may_be_shorter = what.may_be_shorter;
    return message;
  }

  [[nodiscard]] bool is_done() const { return is_done_.load(std::memory_order_acquire); }

  Kind kind = Kind::send;
  std::uint32_t peer = 0;  ///< A rank of the communicator, or any_rank.
  std::uint32_t tag = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool may_be_shorter = false;
  Clock::time_point deadline = Clock::time_point::max();
  Completion* completion = nullptr;  ///< May be null. Must outlive the message's completion.

  // Set when it is done:
  Envelope envelope{};
  std::exception_ptr failure{};

 private:
  friend class Messenger;
  friend class MessageProtocol;
  friend class PacketSender;
  friend class Inbox;

  std::atomic<bool> is_done_{false};
  std::uint32_t watchers_ = 0;  // Number of threads that wait for it and will see a failure.
  bool is_failing_ = false;     // The owner has been told that it failed.
  std::uint64_t id_ = 0;        // Id of a send, unique on this member.
  std::size_t moved_ = 0;       // Bytes sent or received.
  Clock::time_point begun_{};
  Clock::time_point checked_{};  // When the owner was last asked about it, or begun_.
  std::shared_ptr<Inbox> inbox_{};
  std::list<std::shared_ptr<Message>>::iterator
      place_{};  // Position in MessageProtocol::running().
};

}  // namespace tutti
