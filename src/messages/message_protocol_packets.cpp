// The part of the message protocol that processes packets from other ranks.
#include <cstring>
#include <string>
#include <utility>

#include <tutti/error.hpp>

#include "messages/message_protocol.hpp"

namespace tutti {

void MessageProtocol::open_packet(std::uint32_t member) {
  const Packet& packet = peer_at(member).in.packet;
  switch (packet.kind) {
    case Packet::Kind::eager:
      take_eager(member, inboxes_.find(packet.context));
      return;
    case Packet::Kind::request:
      take_request(member, inboxes_.find(packet.context));
      return;
    case Packet::Kind::ready:
      take_ready(member);
      return;
    case Packet::Kind::data:
      take_data(member);
      return;
    case Packet::Kind::credit:
      take_credit(member, inboxes_.find(packet.context));
      return;
  }
  throw Error(ErrorCode::internal, "rank " + std::to_string(member) + " speaks another protocol");
}

void MessageProtocol::take_eager(std::uint32_t member, const std::shared_ptr<Inbox>& inbox) {
  Peer& peer = peer_at(member);
  const Packet& packet = peer.in.packet;
  const bool is_inline = packet.bytes <= Packet::most_inline;
  if (!is_inline) peer.in.left = packet.bytes;
  if (!inbox && inboxes_.is_closed(packet.context)) return;
  const std::uint32_t rank = inbox ? inbox->rank_of(member).value_or(any_rank) : 0;
  if (rank == any_rank) return;
  peer.inbox = inbox;
  peer.receive = inbox ? inbox->posted().match(rank, packet.tag) : nullptr;
  const Envelope envelope{.rank = rank, .tag = packet.tag, .bytes = packet.bytes};
  if (peer.receive) {
    if (!fits(*inbox, *peer.receive, envelope)) peer.receive.reset();
    if (peer.receive) peer.in.to = peer.receive->data;
  } else {
    peer.arrival = arrival_of(envelope);
    peer.arrival->data.resize(packet.bytes);
    peer.in.to = peer.arrival->data.data();
    keep(member, inbox, peer.arrival);
  }
  if (!is_inline) return;
  if (peer.in.to != nullptr && packet.bytes > 0) {
    std::memcpy(peer.in.to, packet.inlined.data(), packet.bytes);
  }
  close_packet(member);
}

void MessageProtocol::take_request(std::uint32_t member, const std::shared_ptr<Inbox>& inbox) {
  const Packet& packet = peer_at(member).in.packet;
  if (!inbox && inboxes_.is_closed(packet.context)) return;
  const std::uint32_t rank = inbox ? inbox->rank_of(member).value_or(any_rank) : 0;
  if (rank == any_rank) return;
  const Envelope envelope{.rank = rank, .tag = packet.tag, .bytes = packet.bytes};
  if (const auto receive = inbox ? inbox->posted().match(rank, packet.tag) : nullptr) {
    accept(*inbox, receive, envelope, packet.id);
    return;
  }
  const Arrival arrival = arrival_of(envelope);
  arrival->id = packet.id;
  arrival->is_request = true;
  keep(member, inbox, arrival);
}

void MessageProtocol::keep(std::uint32_t member, const std::shared_ptr<Inbox>& inbox,
                           const Arrival& arrival) {
  if (inbox) {
    inbox->unexpected().keep(arrival);
  } else {
    inboxes_.keep_early(peer_at(member).in.packet.context, member, arrival);
  }
}

void MessageProtocol::take_ready(std::uint32_t member) {
  const auto found = requests_.find(peer_at(member).in.packet.id);
  if (found == requests_.end()) return;  // Its communicator was closed.
  const std::shared_ptr<Message> send = std::move(found->second);
  requests_.erase(found);
  if (send->bytes == 0) {
    finish(*send);
  } else {
    peer_at(member).sender.add_transfer(send);
  }
}

void MessageProtocol::take_data(std::uint32_t member) {
  Peer& peer = peer_at(member);
  peer.in.left = peer.in.packet.bytes;
  const auto found = peer.awaited.find(peer.in.packet.id);
  if (found == peer.awaited.end()) return;
  peer.receive = found->second;
  peer.inbox = peer.receive->inbox_;
  peer.in.to = peer.receive->data + peer.receive->moved_;
}

void MessageProtocol::take_credit(std::uint32_t member, const std::shared_ptr<Inbox>& inbox) {
  if (!inbox) return;
  const std::optional<std::uint32_t> rank = inbox->rank_of(member);
  if (!rank) return;
  inbox->untaken(*rank) -= peer_at(member).in.packet.bytes;
}

/// The packet's data has arrived in full.
void MessageProtocol::close_packet(std::uint32_t member) {
  Peer& peer = peer_at(member);
  const std::shared_ptr<Message> receive = std::exchange(peer.receive, nullptr);
  const Arrival arrival = std::exchange(peer.arrival, nullptr);
  const std::shared_ptr<Inbox> inbox = std::exchange(peer.inbox, nullptr);
  peer.in.to = nullptr;
  if (peer.in.packet.kind == Packet::Kind::data) {
    if (receive) close_data(member, receive);
    return;
  }
  if (const std::shared_ptr<Inbox> open = inboxes_.find(peer.in.packet.context)) {
    if (const auto rank = open->rank_of(member)) ++open->arrived(*rank);
  }
  if (receive) {
    finish(*receive);
    note_taken(*inbox, receive->envelope.rank, peer.in.packet.bytes);
  } else if (arrival) {
    arrival->is_complete = true;
    if (arrival->taken_by)
      deliver(*inboxes_.find(peer.in.packet.context), arrival->taken_by, *arrival);
  } else if (inbox) {
    note_taken(*inbox, *inbox->rank_of(member), peer.in.packet.bytes);
  }
}

/// A sender that has revoked its memory may have changed the data while it was read in place.
void MessageProtocol::close_data(std::uint32_t member, const std::shared_ptr<Message>& receive) {
  Peer& peer = peer_at(member);
  receive->moved_ += peer.in.packet.bytes;
  if (receive->moved_ < receive->envelope.bytes) return;
  peer.awaited.erase(peer.in.packet.id);
  const std::uint32_t rank = receive->envelope.rank;
  ++receive->inbox_->arrived(rank);
  if (receive->inbox_->owner().has_revoked(rank)) {
    refuse(*receive, std::make_exception_ptr(Error(
                         ErrorCode::peer_lost, "rank " + std::to_string(rank) + " has given up")));
  } else {
    finish(*receive);
  }
}

}  // namespace tutti
