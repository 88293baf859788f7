#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "messages/message.hpp"
#include "messages/packet.hpp"
#include "transport/port.hpp"

namespace tutti {

/// Packets and data on their way to one member, in order. The message protocol calls it, with the
/// messenger's mutex held.
class PacketSender {
 public:
  PacketSender(Port& port, Rank to) : port_(port), to_(to) {}

  /// `completes` is done once the packet was sent; it may be null.
  void add_packet(const Packet& packet, std::shared_ptr<Message> completes = nullptr);
  /// A packet with its message's data. Short data is copied, longer data is sent from where it is.
  void add_eager(const Packet& packet, const std::shared_ptr<Message>& send);
  /// The peer has a receive for this send: its data may go.
  void add_transfer(std::shared_ptr<Message> send) { transfers_.push_back(std::move(send)); }

  /// Sends as much as the port takes. True if any byte went.
  [[nodiscard]] bool pump();
  /// Drops what the port no longer reads, and appends the messages that this completes. True if
  /// there was any.
  [[nodiscard]] bool release(std::vector<std::shared_ptr<Message>>& done);

  /// The messages of this inbox end. What is partly sent goes on from a copy.
  void detach(const Inbox& inbox);
  /// Whether the port may still read memory of the inbox's messages.
  [[nodiscard]] bool is_outstanding(const Inbox& inbox) const;
  /// Ends is_outstanding() for this inbox, whatever the port does.
  void stop_zero_copy(const Inbox& inbox);
  /// Drops everything: the peer is unreachable.
  void clear();

 private:
  struct Outbound {
    Packet packet{};
    std::vector<std::byte> own{};          // A copy of packet and data, where both go as one.
    std::span<const std::byte> head{};     // Sent first: the packet, or `own`;
    std::span<const std::byte> payload{};  // sent after it, from the caller's memory.
    std::size_t sent = 0;                  // Of head and payload together.
    bool may_be_in_place = false;  // The receiver waits for the data, and may read it in place.
    bool completes = false;        // The message is done once this was released.
    std::shared_ptr<Message> message{};
    std::uint64_t end = 0;  // The value of sent_ once all of it was sent.
  };

  void add_data();
  [[nodiscard]] bool push(Outbound& outbound);

  Port& port_;
  Rank to_;
  std::uint64_t sent_ = 0;  // Bytes.
  std::deque<std::unique_ptr<Outbound>> out_;
  std::deque<std::unique_ptr<Outbound>> unreleased_;  // Sent, and perhaps still being read.
  std::deque<std::shared_ptr<Message>> transfers_;    // Their data is wanted; they take turns.
};

}  // namespace tutti
