#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "messages/inboxes.hpp"
#include "messages/message.hpp"
#include "messages/packet.hpp"
#include "messages/packet_receiver.hpp"
#include "messages/packet_sender.hpp"
#include "transport/port.hpp"

namespace tutti {

/// The point-to-point protocol of one member, for all its communicators: matching, eager and
/// rendezvous sends, and flow control. It never waits and never calls the owners of messages.
///
/// A short message is sent eagerly, and queued at the receiver until a receive matches it. The
/// receiver queues at most a budget for each sender and communicator. For a long message, and for a
/// short one beyond the budget, the sender first sends a request; the receiver answers when a
/// receive matches. So the data of messages that are never received takes bounded memory, and such
/// messages block no others.
///
/// Not thread-safe: the Messenger calls it with its mutex held.
class MessageProtocol {
 public:
  struct Setting {
    std::uint32_t self = 0;
    std::uint32_t members = 1;
    /// The longest message that is sent eagerly.
    std::size_t most_eager = 8192;
    /// How many bytes of eager messages a receiver queues for each sender and communicator.
    std::uint64_t budget = std::uint64_t{256} << 10;
  };
  /// A message that failed while no thread waited for it: its owner must be told.
  struct Failure {
    std::shared_ptr<Message> message;
    std::exception_ptr cause;
  };

  /// The port must outlive this.
  MessageProtocol(Port& port, Setting setting);

  [[nodiscard]] std::shared_ptr<Inbox> open(const Membership& membership, MessageOwner& owner) {
    return inboxes_.open(membership, owner);
  }
  /// Ends the messages of a communicator without completing them, and returns them. Their memory
  /// may still be read as long as is_exposed() is true.
  [[nodiscard]] std::vector<std::shared_ptr<Message>> close(Inbox& inbox);
  [[nodiscard]] bool is_exposed(const Inbox& inbox) const;
  void stop_zero_copy(const Inbox& inbox);

  /// Begins messages, in their order. Throws aborted if the inbox was closed.
  void start(const std::shared_ptr<Inbox>& inbox,
             std::span<const std::shared_ptr<Message>> messages);
  /// A message from this rank is expected: connect to it.
  void expect(const Inbox& inbox, std::uint32_t rank);

  /// Sends and receives what it can, for all members. True if anything moved.
  [[nodiscard]] bool pass();

  /// Completes a message with an error, also one that close() has returned.
  void fail(Message& message, std::exception_ptr cause);
  /// The message cannot be completed. A thread that waits for it gets the error; without one, it
  /// becomes a failure.
  void refuse(Message& message, std::exception_ptr cause);
  /// The oldest failure; none if there is none.
  [[nodiscard]] std::optional<Failure> take_failure();

  /// Messages that were started and are not done.
  [[nodiscard]] const std::list<std::shared_ptr<Message>>& running() const { return running_; }

 private:
  /// What a message costs of the budget besides its data.
  static constexpr std::uint64_t cost_of_message = 64;

  /// The state of another member.
  struct Peer {
    PacketSender sender;
    std::unordered_map<std::uint64_t, std::shared_ptr<Message>> awaited{};  // By the sender's id.
    bool is_wanted = false;  // A message to or from it was started.
    bool is_lost = false;    // It is unreachable.

    // What the packet being received is for:
    PacketReceiver in{};
    std::shared_ptr<Message> receive{};
    Arrival arrival{};
    std::shared_ptr<Inbox> inbox{};
  };

  [[nodiscard]] Peer& peer_at(std::uint32_t member);

  void finish(Message& message, std::exception_ptr failure = nullptr);
  static void complete(Message& message, std::exception_ptr failure);
  void add_packet(std::uint32_t member, const Packet& packet,
                  std::shared_ptr<Message> completes = nullptr);

  void begin_send(Inbox& inbox, const std::shared_ptr<Message>& send);
  void send_to_self(Inbox& inbox, const std::shared_ptr<Message>& send);
  void launch(Inbox& inbox, const std::shared_ptr<Message>& send);

  void post_receive(Inbox& inbox, const std::shared_ptr<Message>& receive);
  [[nodiscard]] bool fits(const Inbox& inbox, Message& receive, const Envelope& envelope);
  void accept(Inbox& inbox, const std::shared_ptr<Message>& receive, const Envelope& envelope,
              std::uint64_t id);
  void deliver(Inbox& inbox, const std::shared_ptr<Message>& receive,
               const UnexpectedMessage& arrival);
  void note_taken(Inbox& inbox, std::uint32_t rank, std::uint64_t bytes);

  void open_packet(std::uint32_t member);
  void take_eager(std::uint32_t member, const std::shared_ptr<Inbox>& inbox);
  void take_request(std::uint32_t member, const std::shared_ptr<Inbox>& inbox);
  void keep(std::uint32_t member, const std::shared_ptr<Inbox>& inbox, const Arrival& arrival);
  void take_ready(std::uint32_t member);
  void take_data(std::uint32_t member);
  void take_credit(std::uint32_t member, const std::shared_ptr<Inbox>& inbox);
  void close_packet(std::uint32_t member);
  void close_data(std::uint32_t member, const std::shared_ptr<Message>& receive);

  [[nodiscard]] bool release(std::uint32_t member);
  void forget(Message& message);
  void lose(std::uint32_t member, const std::exception_ptr& cause);

  Port& port_;
  Setting setting_;
  std::vector<std::unique_ptr<Peer>> peers_;  // By member; null until it is needed.
  Inboxes inboxes_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Message>> requests_;  // Own sends, by id.
  std::uint64_t last_id_ = 0;
  std::list<std::shared_ptr<Message>> running_;
  std::deque<Failure> failures_;
  std::vector<std::shared_ptr<Message>> released_;  // Reused by release().
};

}  // namespace tutti
