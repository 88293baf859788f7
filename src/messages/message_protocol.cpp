#include "messages/message_protocol.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// How many packets of one peer are processed before the next peer's.
constexpr int packets_at_a_time = 16;

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::exception_ptr failure(ErrorCode code, const std::string& what) {
  return std::make_exception_ptr(Error(code, what));
}

}  // namespace

MessageProtocol::MessageProtocol(Port& port, Setting setting)
    : port_(port), setting_(setting), peers_(setting.members) {
  port_.begin(0, {});
}

MessageProtocol::Peer& MessageProtocol::peer_at(std::uint32_t member) {
  std::unique_ptr<Peer>& peer = peers_[member];
  if (!peer) peer.reset(new Peer{.sender = PacketSender(port_, member)});
  return *peer;
}

// Communicators ---------------------------------------------------------------------------------

std::vector<std::shared_ptr<Message>> MessageProtocol::close(Inbox& inbox) {
  inboxes_.close(inbox);
  const auto is_of_inbox = [&](const std::shared_ptr<Message>& message) {
    return message->inbox_.get() == &inbox;
  };
  for (const std::unique_ptr<Peer>& known : peers_) {
    if (!known) continue;
    Peer& peer = *known;
    if (peer.inbox.get() == &inbox) {
      // The rest of the packet is dropped.
      peer.in.to = nullptr;
      peer.receive.reset();
      peer.arrival.reset();
      peer.inbox.reset();
    }
    std::erase_if(peer.awaited, [&](const auto& each) { return is_of_inbox(each.second); });
    peer.sender.detach(inbox);
  }
  std::erase_if(requests_, [&](const auto& each) { return is_of_inbox(each.second); });
  std::vector<std::shared_ptr<Message>> unfinished;
  std::copy_if(running_.begin(), running_.end(), std::back_inserter(unfinished), is_of_inbox);
  for (const std::shared_ptr<Message>& message : unfinished) forget(*message);
  std::erase_if(failures_, [&](const Failure& each) { return is_of_inbox(each.message); });
  inbox.close();
  return unfinished;
}

bool MessageProtocol::is_exposed(const Inbox& inbox) const {
  for (std::uint32_t member = 0; member < peers_.size(); ++member) {
    if (!peers_[member] || !peers_[member]->sender.is_outstanding(inbox)) continue;
    if (!inbox.owner().has_ended(*inbox.rank_of(member))) return true;
  }
  return false;
}

void MessageProtocol::stop_zero_copy(const Inbox& inbox) {
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer) peer->sender.stop_zero_copy(inbox);
  }
}

// Messages --------------------------------------------------------------------------------------

void MessageProtocol::start(const std::shared_ptr<Inbox>& inbox,
                            std::span<const std::shared_ptr<Message>> messages) {
  if (inboxes_.find(inbox->context()) != inbox) {
    throw Error(ErrorCode::aborted, "the communicator was given up");
  }
  const Clock::time_point now = Clock::now();
  for (const std::shared_ptr<Message>& message : messages) {
    message->inbox_ = inbox;
    message->begun_ = now;
    message->checked_ = now;
    message->place_ = running_.insert(running_.end(), message);
    if (message->kind == Message::Kind::send) {
      begin_send(*inbox, message);
    } else {
      post_receive(*inbox, message);
    }
  }
}

void MessageProtocol::expect(const Inbox& inbox, std::uint32_t rank) {
  if (rank != any_rank && rank != inbox.self()) peer_at(inbox.member(rank)).is_wanted = true;
}

void MessageProtocol::finish(Message& message, std::exception_ptr failure) {
  // One that close() has returned is finished by fail() alone.
  if (message.is_done() || message.place_ == running_.end()) return;
  const std::shared_ptr<Message> keep = *message.place_;
  forget(message);
  if (message.kind == Message::Kind::send && !failure) ++message.inbox_->sent(message.peer);
  complete(message, std::move(failure));
}

void MessageProtocol::fail(Message& message, std::exception_ptr cause) {
  if (message.is_done()) return;
  std::shared_ptr<Message> keep;
  if (message.place_ != running_.end()) keep = *message.place_;
  forget(message);
  complete(message, std::move(cause));
}

void MessageProtocol::complete(Message& message, std::exception_ptr failure) {
  if (failure) message.failure = std::move(failure);
  message.is_done_.store(true, std::memory_order_release);
  if (message.completion != nullptr) message.completion->complete();
}

void MessageProtocol::forget(Message& message) {
  if (message.place_ == running_.end()) return;
  running_.erase(std::exchange(message.place_, running_.end()));
}

void MessageProtocol::refuse(Message& message, std::exception_ptr cause) {
  if (message.is_done() || message.place_ == running_.end()) return;
  if (std::exchange(message.is_failing_, true)) return;
  if (message.watchers_ > 0) {
    finish(message, std::move(cause));
  } else {
    failures_.push_back({.message = *message.place_, .cause = std::move(cause)});
  }
}

std::optional<MessageProtocol::Failure> MessageProtocol::take_failure() {
  if (failures_.empty()) return std::nullopt;
  Failure oldest = std::move(failures_.front());
  failures_.pop_front();
  return oldest;
}

// Sending ---------------------------------------------------------------------------------------

void MessageProtocol::add_packet(std::uint32_t member, const Packet& packet,
                                 std::shared_ptr<Message> completes) {
  peer_at(member).sender.add_packet(packet, std::move(completes));
  peer_at(member).is_wanted = true;
}

void MessageProtocol::begin_send(Inbox& inbox, const std::shared_ptr<Message>& send) {
  send->id_ = ++last_id_;
  send->envelope = {.rank = send->peer, .tag = send->tag, .bytes = send->bytes};
  if (send->peer == inbox.self()) {
    send_to_self(inbox, send);
    return;
  }
  peer_at(inbox.member(send->peer)).is_wanted = true;
  launch(inbox, send);
}

/// A request needs no credit: it takes less memory at the receiver than its send takes here. So a
/// message that has a receive is never stopped by others that have none.
void MessageProtocol::launch(Inbox& inbox, const std::shared_ptr<Message>& send) {
  std::uint64_t& untaken = inbox.untaken(send->peer);
  const std::uint64_t cost = cost_of_message + send->bytes;
  const bool is_eager = send->bytes <= setting_.most_eager && untaken + cost <= setting_.budget;
  const std::uint32_t member = inbox.member(send->peer);
  const Packet packet{.kind = is_eager ? Packet::Kind::eager : Packet::Kind::request,
                      .tag = send->tag,
                      .context = inbox.context(),
                      .id = send->id_,
                      .bytes = send->bytes};
  if (is_eager) {
    untaken += cost;
    peer_at(member).sender.add_eager(packet, send);
  } else {
    requests_.emplace(send->id_, send);
    add_packet(member, packet);
  }
}

/// Within the budget the data is copied and the send is done; beyond it the send waits for its
/// receive.
void MessageProtocol::send_to_self(Inbox& inbox, const std::shared_ptr<Message>& send) {
  const std::uint32_t self = inbox.self();
  const Envelope envelope{.rank = self, .tag = send->tag, .bytes = send->bytes};
  if (const auto receive = inbox.posted().match(self, send->tag)) {
    if (fits(inbox, *receive, envelope)) {
      if (send->bytes > 0) std::memcpy(receive->data, send->data, send->bytes);
      finish(*receive);
    }
    finish(*send);
    return;
  }
  const Arrival arrival = arrival_of(envelope);
  arrival->is_complete = true;
  std::uint64_t& untaken = inbox.untaken(self);
  const std::uint64_t cost = cost_of_message + send->bytes;
  const bool is_copied = untaken + cost <= setting_.budget;
  if (is_copied) {
    untaken += cost;
    arrival->data.assign(send->data, send->data + send->bytes);
  } else {
    arrival->own_send = send;
  }
  inbox.unexpected().keep(arrival);
  if (is_copied) finish(*send);
}

// Receiving -------------------------------------------------------------------------------------

void MessageProtocol::post_receive(Inbox& inbox, const std::shared_ptr<Message>& receive) {
  expect(inbox, receive->peer);
  const Arrival arrival = inbox.unexpected().find(receive->peer, receive->tag);
  if (!arrival) {
    inbox.posted().post(receive);
    return;
  }
  inbox.unexpected().take(arrival);
  const Envelope envelope = arrival->envelope();
  if (arrival->is_request) {
    accept(inbox, receive, envelope, arrival->id);
  } else if (arrival->is_complete) {
    deliver(inbox, receive, *arrival);
  } else if (fits(inbox, *receive, envelope)) {
    arrival->taken_by = receive;
  }
}

/// Whether the message may go into the receive, whose envelope it sets. If not, the receive fails.
bool MessageProtocol::fits(const Inbox& inbox, Message& receive, const Envelope& envelope) {
  receive.envelope = envelope;
  const std::uint64_t bytes = envelope.bytes;
  const bool is_right = bytes == receive.bytes || (bytes < receive.bytes && receive.may_be_shorter);
  if (is_right) return true;
  refuse(receive,
         failure(ErrorCode::mismatch,
                 "rank " + std::to_string(envelope.rank) + " sent " + bytes_text(bytes) +
                     " with tag " + std::to_string(envelope.tag) + ", and rank " +
                     std::to_string(inbox.self()) + " receives " +
                     (receive.may_be_shorter ? "at most " : "") + bytes_text(receive.bytes) +
                     ": let both agree on the length" +
                     (bytes < receive.bytes ? ", or let the receive take shorter messages" : "")));
  return false;
}

/// Answers a request: the data is still with its sender. Without data the receive is done when the
/// answer is sent: a rank whose messages are all done may do something else, and send it never.
void MessageProtocol::accept(Inbox& inbox, const std::shared_ptr<Message>& receive,
                             const Envelope& envelope, std::uint64_t id) {
  if (!fits(inbox, *receive, envelope)) return;
  const std::uint32_t member = inbox.member(envelope.rank);
  const bool is_empty = envelope.bytes == 0;
  if (is_empty) {
    ++inbox.arrived(envelope.rank);
  } else {
    peer_at(member).awaited[id] = receive;
  }
  add_packet(member, {.kind = Packet::Kind::ready, .context = inbox.context(), .id = id},
             is_empty ? receive : nullptr);
}

/// Copies a message that has arrived in full.
void MessageProtocol::deliver(Inbox& inbox, const std::shared_ptr<Message>& receive,
                              const UnexpectedMessage& arrival) {
  const std::shared_ptr<Message>& own = arrival.own_send;
  if (fits(inbox, *receive, arrival.envelope())) {
    const std::byte* const from = own ? own->data : arrival.data.data();
    if (arrival.bytes > 0) std::memcpy(receive->data, from, arrival.bytes);
    finish(*receive);
  }
  if (own) {
    finish(*own);
  } else {
    note_taken(inbox, arrival.rank, arrival.bytes);
  }
}

/// Returns budget to the sender, half of it at a time.
void MessageProtocol::note_taken(Inbox& inbox, std::uint32_t rank, std::uint64_t bytes) {
  if (rank == inbox.self()) {
    inbox.untaken(rank) -= cost_of_message + bytes;
    return;
  }
  std::uint64_t& taken = inbox.taken(rank);
  taken += cost_of_message + bytes;
  if (taken < setting_.budget / 2) return;
  add_packet(
      inbox.member(rank),
      {.kind = Packet::Kind::credit, .context = inbox.context(), .bytes = std::exchange(taken, 0)});
}

// Progress --------------------------------------------------------------------------------------

bool MessageProtocol::pass() {
  bool moved = false;
  for (std::uint32_t member = 0; member < peers_.size(); ++member) {
    if (member == setting_.self) continue;
    const bool is_wanted = peers_[member] && peers_[member]->is_wanted;
    if (!is_wanted && !port_.may_arrive(member, false)) continue;
    Peer& peer = peer_at(member);
    if (peer.is_lost) continue;
    try {
      moved = peer.in.pump(
                  port_, member, packets_at_a_time, [&] { open_packet(member); },
                  [&] { close_packet(member); }) ||
              moved;
      moved = peer.sender.pump() || moved;
      moved = release(member) || moved;
    } catch (const Error&) {
      lose(member, std::current_exception());
      moved = true;
    }
  }
  return moved;
}

bool MessageProtocol::release(std::uint32_t member) {
  released_.clear();
  const bool moved = peer_at(member).sender.release(released_);
  for (const std::shared_ptr<Message>& message : released_) finish(*message);
  released_.clear();
  return moved;
}

/// The member is unreachable: the messages that need it fail.
void MessageProtocol::lose(std::uint32_t member, const std::exception_ptr& cause) {
  Peer& peer = peer_at(member);
  peer.is_lost = true;
  peer.sender.clear();
  peer.awaited.clear();
  for (auto each = running_.begin(); each != running_.end();) {
    const std::shared_ptr<Message> message = *each++;
    const std::optional<std::uint32_t> rank = message->inbox_->rank_of(member);
    const bool is_concerned =
        rank &&
        (message->peer == *rank ||
         (message->peer == any_rank && message->envelope.rank == *rank && message->moved_ > 0));
    if (is_concerned) refuse(*message, cause);
  }
}

}  // namespace tutti
