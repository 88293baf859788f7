#include "exec/messenger.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include <tutti/error.hpp>

#include "core/worker_pool.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// What a message costs of the budget besides its data.
constexpr std::uint64_t cost_of_message = 64;
/// Shorter messages go together with their packet, as one piece.
constexpr std::size_t most_together = 4096;
/// The pieces in which long data goes, so that several messages share the way.
constexpr std::size_t data_piece = std::size_t{1} << 20;
/// Data that its receiver waits for is read where it stands from here on.
constexpr std::size_t least_lent = 4096;
/// How many packets of one peer are taken before the others have their turn.
constexpr int packets_at_a_time = 16;
constexpr std::size_t most_closed = 4096;
/// How long the tender stays when there is nothing to do: it is soon needed again.
constexpr auto tender_stays = 20ms;
constexpr auto tender_naps = 1ms;

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace

Messenger::Messenger(std::unique_ptr<Port> port, Setting setting)
    : port_(std::move(port)), setting_(setting), peers_(setting.members) {
  port_->begin(0, 0);
}

Messenger::~Messenger() {
  Lock lock(mutex_);
  is_closing_ = true;
  port_->interrupt();
  changed_.notify_all();
  changed_.wait(lock, [this] { return !is_tended_; });
}

// Communicators ---------------------------------------------------------------------------------

std::shared_ptr<Inbox> Messenger::open(const Membership& membership, MessageOwner& owner) {
  const Lock lock(mutex_);
  auto inbox = std::make_shared<Inbox>(membership, owner);
  inboxes_[membership.context] = inbox;
  const auto early = early_.find(membership.context);
  if (early == early_.end()) return inbox;
  for (const Inbox::Arrival& arrival : early->second) {
    const std::optional<std::uint32_t> rank = inbox->rank_of(arrival->rank);
    if (!rank) continue;
    arrival->rank = *rank;
    inbox->keep(arrival);
  }
  early_.erase(early);
  return inbox;
}

std::shared_ptr<Inbox> Messenger::inbox_of(std::uint64_t context) const {
  const auto found = inboxes_.find(context);
  return found == inboxes_.end() ? nullptr : found->second;
}

bool Messenger::is_closed(std::uint64_t context) const {
  return std::find(closed_.begin(), closed_.end(), context) != closed_.end();
}

void Messenger::keep_early(std::uint32_t member, Inbox::Arrival arrival) {
  arrival->rank = member;
  early_[peers_[member].packet.context].push_back(std::move(arrival));
}

void Messenger::finish(Inbox& inbox, std::chrono::milliseconds patience) {
  const auto first_of = [&](Message::Kind kind) -> std::shared_ptr<Message> {
    const Lock lock(mutex_);
    const auto found = std::find_if(running_.begin(), running_.end(), [&](const auto& each) {
      return each->inbox_.get() == &inbox && each->kind == kind && !each->is_failing_;
    });
    return found == running_.end() ? nullptr : *found;
  };
  while (const std::shared_ptr<Message> send = first_of(Message::Kind::send)) {
    if (!wait_until(inbox, *send, send->deadline)) return;
  }
  const Clock::time_point end = Clock::now() + patience;
  while (const std::shared_ptr<Message> receive = first_of(Message::Kind::receive)) {
    if (!wait_until(inbox, *receive, end)) return;
  }
}

std::vector<std::shared_ptr<Message>> Messenger::close(Inbox& inbox,
                                                       std::chrono::milliseconds patience) {
  std::vector<std::shared_ptr<Message>> unfinished;
  Lock lock(mutex_);
  inboxes_.erase(inbox.context());
  closed_.push_back(inbox.context());
  if (closed_.size() > most_closed) closed_.pop_front();
  for (std::uint32_t member = 0; member < peers_.size(); ++member) {
    Peer& peer = peers_[member];
    bool is_touched = false;
    if (peer.inbox.get() == &inbox) {
      // What is still coming is for nobody.
      peer.to = nullptr;
      peer.receive.reset();
      peer.arrival.reset();
      peer.inbox.reset();
    }
    const auto is_of_inbox = [&](const std::shared_ptr<Message>& message) {
      return message && message->inbox_.get() == &inbox;
    };
    std::erase_if(peer.transfers, is_of_inbox);
    std::erase_if(peer.awaited, [&](const auto& each) { return is_of_inbox(each.second); });
    for (const auto& outbound : peer.out) {
      if (!is_of_inbox(outbound->message)) continue;
      // It was perhaps begun, and then must be finished; by a copy, for its memory goes.
      if (!outbound->payload.empty()) {
        std::vector<std::byte> all(outbound->head.begin(), outbound->head.end());
        all.insert(all.end(), outbound->payload.begin(), outbound->payload.end());
        outbound->own = std::move(all);
        outbound->head = outbound->own;
        outbound->payload = {};
      }
      outbound->message.reset();
      is_touched = true;
    }
    is_touched |= std::any_of(peer.unreleased.begin(), peer.unreleased.end(),
                              [&](const auto& each) { return is_of_inbox(each->message); });
    if (is_touched) port_->copy_unreleased(Rank{member});
  }
  std::erase_if(requests_, [&](const auto& each) { return each.second->inbox_.get() == &inbox; });
  for (auto each = running_.begin(); each != running_.end();) {
    const std::shared_ptr<Message> message = *each++;
    if (message->inbox_.get() != &inbox) continue;
    forget(*message);
    unfinished.push_back(message);
  }
  inbox.clear();
  const Clock::time_point end = Clock::now() + patience;
  if (!unfinished.empty()) {
    drains_until_ = std::max(drains_until_, end);
    need_tending();
  }
  while (is_lending(inbox) && Clock::now() < end) {
    lock.unlock();
    std::this_thread::sleep_for(100us);
    lock.lock();
    if (!has_leader_) (void)pass();
  }
  for (Peer& peer : peers_) {
    for (const auto& outbound : peer.unreleased) {
      if (outbound->message && outbound->message->inbox_.get() == &inbox) {
        outbound->message.reset();
      }
    }
  }
  return unfinished;
}

/// Whether somebody may still read memory of its messages.
bool Messenger::is_lending(const Inbox& inbox) {
  for (std::uint32_t member = 0; member < peers_.size(); ++member) {
    for (const auto& outbound : peers_[member].unreleased) {
      const bool is_own = outbound->message && outbound->message->inbox_.get() == &inbox;
      if (is_own && !inbox.owner().has_ended(*inbox.rank_of(member))) return true;
    }
  }
  return false;
}

// Messages --------------------------------------------------------------------------------------

void Messenger::start(const std::shared_ptr<Inbox>& inbox,
                      std::span<const std::shared_ptr<Message>> messages, bool is_waited_for) {
  Lock lock(mutex_);
  if (inbox_of(inbox->context()) != inbox) {
    throw Error(ErrorCode::aborted, "the communicator was given up");
  }
  const Clock::time_point now = Clock::now();
  for (const std::shared_ptr<Message>& message : messages) {
    message->inbox_ = inbox;
    message->begun_ = now;
    message->place_ = running_.insert(running_.end(), message);
    if (message->kind == Message::Kind::send) {
      begin_send(*inbox, message);
    } else {
      post_receive(*inbox, message);
    }
  }
  if (has_leader_) {
    port_->interrupt();
  } else {
    (void)pass();
  }
  if (!is_waited_for && !running_.empty()) need_tending();
  report_failures(lock);
}

void Messenger::finish(Message& message) {
  if (message.is_done() || message.place_ == running_.end()) return;
  const std::shared_ptr<Message> keep = *message.place_;
  forget(message);
  message.is_done_.store(true, std::memory_order_release);
  if (message.completion != nullptr) message.completion->complete();
}

void Messenger::finish(Message& message, std::exception_ptr failure) {
  if (message.is_done()) return;
  message.failure = std::move(failure);
  finish(message);
}

void Messenger::forget(Message& message) {
  if (message.place_ == running_.end()) return;
  running_.erase(std::exchange(message.place_, running_.end()));
}

void Messenger::fail(Message& message, std::exception_ptr cause) {
  const Lock lock(mutex_);
  if (message.place_ == running_.end()) {
    // Its communicator was closed.
    if (message.is_done()) return;
    message.failure = std::move(cause);
    message.is_done_.store(true, std::memory_order_release);
    if (message.completion != nullptr) message.completion->complete();
  } else {
    finish(message, std::move(cause));
  }
  changed_.notify_all();
}

/// Of a message that cannot be done. Who waits for it is told; else its owner.
void Messenger::refuse(Message& message, std::exception_ptr cause) {
  if (message.is_done() || std::exchange(message.is_failing_, true)) return;
  if (message.watchers_ > 0) {
    finish(message, std::move(cause));
  } else {
    failures_.push_back({.message = *message.place_, .cause = std::move(cause)});
  }
}

void Messenger::report_failures(Lock& lock) {
  while (!failures_.empty()) {
    const std::vector<Failure> failures = std::exchange(failures_, {});
    lock.unlock();
    for (const Failure& failure : failures) {
      failure.message->inbox_->owner().note_failure(failure.message, failure.cause);
    }
    lock.lock();
  }
}

// Sending ---------------------------------------------------------------------------------------

void Messenger::begin_send(Inbox& inbox, const std::shared_ptr<Message>& send) {
  send->id_ = ++last_id_;
  send->envelope = {.rank = send->peer, .tag = send->tag, .bytes = send->bytes};
  if (send->peer == inbox.self()) {
    send_to_self(inbox, send);
    return;
  }
  peers_[inbox.member(send->peer)].is_wanted = true;
  auto& waiting = inbox.waiting(send->peer);
  if (!waiting.empty() || !launch(inbox, send)) waiting.push_back(send);
}

/// False if the receiver must first take something.
bool Messenger::launch(Inbox& inbox, const std::shared_ptr<Message>& send) {
  std::uint64_t& untaken = inbox.untaken(send->peer);
  const std::uint64_t cost = cost_of_message + send->bytes;
  if (send->bytes <= setting_.most_eager && untaken + cost <= setting_.budget) {
    untaken += cost;
    add_eager(inbox, send);
    return true;
  }
  if (untaken + cost_of_message > setting_.budget) return false;
  untaken += cost_of_message;
  requests_.emplace(send->id_, send);
  add_packet(inbox.member(send->peer), {.kind = Packet::Kind::request,
                                        .tag = send->tag,
                                        .context = inbox.context(),
                                        .id = send->id_,
                                        .bytes = send->bytes});
  return true;
}

void Messenger::launch_waiting(Inbox& inbox, std::uint32_t rank) {
  auto& waiting = inbox.waiting(rank);
  while (!waiting.empty() && (waiting.front()->is_done() || launch(inbox, waiting.front()))) {
    waiting.pop_front();
  }
}

void Messenger::add_eager(Inbox& inbox, const std::shared_ptr<Message>& send) {
  auto outbound = std::make_unique<Outbound>();
  outbound->packet = {.kind = Packet::Kind::eager,
                      .tag = send->tag,
                      .context = inbox.context(),
                      .id = send->id_,
                      .bytes = send->bytes};
  outbound->message = send;
  outbound->completes = true;
  const std::span<const std::byte> data(send->data, send->bytes);
  const auto packet = std::as_bytes(std::span(&outbound->packet, 1));
  if (data.size() <= Packet::most_enclosed) {
    if (!data.empty()) std::memcpy(outbound->packet.enclosed.data(), data.data(), data.size());
    outbound->head = packet;
  } else if (data.size() <= most_together) {
    outbound->own.reserve(packet.size() + data.size());
    outbound->own.assign(packet.begin(), packet.end());
    outbound->own.insert(outbound->own.end(), data.begin(), data.end());
    outbound->head = outbound->own;
  } else {
    outbound->head = packet;
    outbound->payload = data;
  }
  peers_[inbox.member(send->peer)].out.push_back(std::move(outbound));
}

void Messenger::add_packet(std::uint32_t member, const Packet& packet) {
  auto outbound = std::make_unique<Outbound>();
  outbound->packet = packet;
  outbound->head = std::as_bytes(std::span(&outbound->packet, 1));
  peers_[member].out.push_back(std::move(outbound));
  peers_[member].is_wanted = true;
}

/// What one sends to oneself is kept like any other message; within the budget it is copied.
void Messenger::send_to_self(Inbox& inbox, const std::shared_ptr<Message>& send) {
  const std::uint32_t self = inbox.self();
  if (const auto receive = inbox.match(self, send->tag)) {
    if (fits(inbox, *receive, self, send->tag, send->bytes)) {
      if (send->bytes > 0) std::memcpy(receive->data, send->data, send->bytes);
      finish(*receive);
    }
    finish(*send);
    return;
  }
  auto arrival = std::make_shared<Inbox::Unexpected>();
  arrival->rank = self;
  arrival->tag = send->tag;
  arrival->bytes = send->bytes;
  arrival->is_complete = true;
  std::uint64_t& untaken = inbox.untaken(self);
  const std::uint64_t cost = cost_of_message + send->bytes;
  if (untaken + cost <= setting_.budget) {
    untaken += cost;
    arrival->data.assign(send->data, send->data + send->bytes);
  } else {
    arrival->own_send = send;
  }
  const bool is_copied = arrival->own_send == nullptr;
  inbox.keep(std::move(arrival));
  if (is_copied) finish(*send);
}

// Receiving -------------------------------------------------------------------------------------

void Messenger::post_receive(Inbox& inbox, const std::shared_ptr<Message>& receive) {
  if (receive->peer != any_rank && receive->peer != inbox.self()) {
    peers_[inbox.member(receive->peer)].is_wanted = true;
  }
  const Inbox::Arrival arrival = inbox.find(receive->peer, receive->tag);
  if (!arrival) {
    inbox.post(receive);
    return;
  }
  inbox.take(arrival);
  if (arrival->is_request) {
    accept(inbox, receive, arrival->rank, arrival->tag, arrival->id, arrival->bytes);
  } else if (!arrival->is_complete) {
    if (fits(inbox, *receive, arrival->rank, arrival->tag, arrival->bytes)) {
      arrival->taken_by = receive;
    }
  } else {
    deliver(inbox, receive, *arrival);
  }
}

/// Whether the message may go into the receive; notes whose it is. If not, the receive has failed.
bool Messenger::fits(Inbox& inbox, Message& receive, std::uint32_t rank, std::uint32_t tag,
                     std::uint64_t bytes) {
  receive.envelope = {.rank = rank, .tag = tag, .bytes = bytes};
  const bool is_right = bytes == receive.bytes || (bytes < receive.bytes && receive.may_be_shorter);
  if (is_right) return true;
  refuse(receive,
         std::make_exception_ptr(Error(
             ErrorCode::mismatch,
             "rank " + std::to_string(rank) + " sent " + bytes_text(bytes) + " with tag " +
                 std::to_string(tag) + ", and rank " + std::to_string(inbox.self()) + " receives " +
                 (receive.may_be_shorter ? "at most " : "") + bytes_text(receive.bytes) +
                 ": let both agree on the length" +
                 (bytes < receive.bytes ? ", or let the receive take shorter messages" : ""))));
  return false;
}

/// A message whose data is with its sender.
void Messenger::accept(Inbox& inbox, const std::shared_ptr<Message>& receive, std::uint32_t rank,
                       std::uint32_t tag, std::uint64_t id, std::uint64_t bytes) {
  if (!fits(inbox, *receive, rank, tag, bytes)) return;
  const std::uint32_t member = inbox.member(rank);
  if (bytes == 0) {
    finish(*receive);
  } else {
    peers_[member].awaited[id] = receive;
  }
  add_packet(member, {.kind = Packet::Kind::ready, .context = inbox.context(), .id = id});
}

/// A message whose data is here in full.
void Messenger::deliver(Inbox& inbox, const std::shared_ptr<Message>& receive,
                        const Inbox::Unexpected& arrival) {
  const std::shared_ptr<Message>& own = arrival.own_send;
  if (fits(inbox, *receive, arrival.rank, arrival.tag, arrival.bytes)) {
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

/// Tells the sender from time to time how much of its budget is free again.
void Messenger::note_taken(Inbox& inbox, std::uint32_t rank, std::uint64_t bytes) {
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

// Moving on -------------------------------------------------------------------------------------

bool Messenger::pass() {
  bool moved = false;
  for (std::uint32_t member = 0; member < peers_.size(); ++member) {
    if (member == setting_.self) continue;
    Peer& peer = peers_[member];
    if (peer.is_lost || (!peer.is_wanted && !port_->is_reached(Rank{member}))) continue;
    try {
      moved = pump_in(member) || moved;
      moved = pump_out(member) || moved;
      moved = release(member) || moved;
    } catch (const Error&) {
      lose(member, std::current_exception());
      moved = true;
    }
  }
  return moved;
}

/// The way to a member is broken: nothing that needs it will be done.
void Messenger::lose(std::uint32_t member, const std::exception_ptr& cause) {
  Peer& peer = peers_[member];
  peer.is_lost = true;
  peer.out.clear();
  peer.unreleased.clear();
  peer.transfers.clear();
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

bool Messenger::pump_out(std::uint32_t member) {
  Peer& peer = peers_[member];
  bool moved = false;
  while (true) {
    if (peer.out.empty()) {
      if (peer.transfers.empty()) return moved;
      add_data(member);
    }
    Outbound& outbound = *peer.out.front();
    const std::size_t before = outbound.gone;
    const bool is_done = push(member, outbound);
    moved = moved || outbound.gone > before;
    if (!is_done) return moved;
    outbound.end = port_->sent(Rank{member});
    peer.unreleased.push_back(std::move(peer.out.front()));
    peer.out.pop_front();
  }
}

/// The next piece of the data that the peer waits for. Several messages take turns.
void Messenger::add_data(std::uint32_t member) {
  Peer& peer = peers_[member];
  const std::shared_ptr<Message> send = std::move(peer.transfers.front());
  peer.transfers.pop_front();
  const std::size_t bytes = std::min(data_piece, send->bytes - send->moved_);
  auto outbound = std::make_unique<Outbound>();
  outbound->packet = {.kind = Packet::Kind::data, .id = send->id_, .bytes = bytes};
  outbound->head = std::as_bytes(std::span(&outbound->packet, 1));
  outbound->payload = {send->data + send->moved_, bytes};
  outbound->may_lend = true;
  outbound->message = send;
  send->moved_ += bytes;
  outbound->completes = send->moved_ == send->bytes;
  if (!outbound->completes) peer.transfers.push_back(send);
  peer.out.push_back(std::move(outbound));
}

/// Whether all of it has gone.
bool Messenger::push(std::uint32_t member, Outbound& outbound) {
  const Rank rank{member};
  const std::size_t all = outbound.head.size() + outbound.payload.size();
  while (outbound.gone < all) {
    const bool in_head = outbound.gone < outbound.head.size();
    const std::span<const std::byte> rest =
        in_head ? outbound.head.subspan(outbound.gone)
                : outbound.payload.subspan(outbound.gone - outbound.head.size());
    port_->read_in_place_from(!in_head && outbound.may_lend ? least_lent : ~std::size_t{0});
    const std::size_t taken = port_->send({&rank, 1}, rest);
    if (taken == 0) return false;
    outbound.gone += taken;
  }
  return true;
}

/// What is no longer needed where it was.
bool Messenger::release(std::uint32_t member) {
  Peer& peer = peers_[member];
  if (peer.unreleased.empty()) return false;
  const std::uint64_t released = port_->released(Rank{member});
  bool moved = false;
  while (!peer.unreleased.empty() && peer.unreleased.front()->end <= released) {
    const std::unique_ptr<Outbound> outbound = std::move(peer.unreleased.front());
    peer.unreleased.pop_front();
    if (outbound->completes && outbound->message) finish(*outbound->message);
    moved = true;
  }
  return moved;
}

bool Messenger::pump_in(std::uint32_t member) {
  Peer& peer = peers_[member];
  const Rank rank{member};
  bool moved = false;
  for (int packets = 0; packets < packets_at_a_time;) {
    if (peer.left == 0) {
      const std::span<const std::byte> here = port_->arrived(rank);
      if (here.empty()) return moved;
      if (here.size() < sizeof(Packet)) {
        throw Error(ErrorCode::internal, "rank " + std::to_string(member) + " sent half a packet");
      }
      std::memcpy(&peer.packet, here.data(), sizeof(Packet));
      port_->consume(rank, sizeof(Packet));
      ++packets;
      open_packet(member);
    } else if (peer.to == nullptr) {
      const std::size_t bytes = std::min(port_->arrived(rank).size(), peer.left);
      if (bytes == 0) return moved;
      port_->consume(rank, bytes);
      peer.left -= bytes;
      if (peer.left == 0) close_packet(member);
    } else {
      const std::size_t bytes = port_->receive(rank, {peer.to, peer.left});
      if (bytes == 0) return moved;
      peer.to += bytes;
      peer.left -= bytes;
      if (peer.left == 0) close_packet(member);
    }
    moved = true;
  }
  return moved;
}

void Messenger::open_packet(std::uint32_t member) {
  Peer& peer = peers_[member];
  peer.to = nullptr;
  switch (peer.packet.kind) {
    case Packet::Kind::eager:
      take_eager(member, inbox_of(peer.packet.context));
      return;
    case Packet::Kind::request:
      take_request(member, inbox_of(peer.packet.context));
      return;
    case Packet::Kind::ready:
      take_ready(member);
      return;
    case Packet::Kind::data:
      take_data(member);
      return;
    case Packet::Kind::credit:
      take_credit(member, inbox_of(peer.packet.context));
      return;
  }
  throw Error(ErrorCode::internal, "rank " + std::to_string(member) + " speaks another protocol");
}

void Messenger::take_eager(std::uint32_t member, const std::shared_ptr<Inbox>& inbox) {
  Peer& peer = peers_[member];
  const Packet& packet = peer.packet;
  const bool is_enclosed = packet.bytes <= Packet::most_enclosed;
  if (!is_enclosed) peer.left = packet.bytes;
  if (!inbox && is_closed(packet.context)) return;
  const std::uint32_t rank = inbox ? inbox->rank_of(member).value_or(any_rank) : 0;
  if (rank == any_rank) return;
  peer.inbox = inbox;
  peer.receive = inbox ? inbox->match(rank, packet.tag) : nullptr;
  if (peer.receive) {
    if (!fits(*inbox, *peer.receive, rank, packet.tag, packet.bytes)) peer.receive.reset();
    if (peer.receive) peer.to = peer.receive->data;
  } else {
    peer.arrival = std::make_shared<Inbox::Unexpected>();
    peer.arrival->rank = rank;
    peer.arrival->tag = packet.tag;
    peer.arrival->bytes = packet.bytes;
    peer.arrival->data.resize(packet.bytes);
    peer.to = peer.arrival->data.data();
    if (inbox) {
      inbox->keep(peer.arrival);
    } else {
      keep_early(member, peer.arrival);
    }
  }
  if (!is_enclosed) return;
  if (peer.to != nullptr && packet.bytes > 0) {
    std::memcpy(peer.to, packet.enclosed.data(), packet.bytes);
  }
  close_packet(member);
}

void Messenger::take_request(std::uint32_t member, const std::shared_ptr<Inbox>& inbox) {
  const Packet& packet = peers_[member].packet;
  if (!inbox && is_closed(packet.context)) return;
  const std::uint32_t rank = inbox ? inbox->rank_of(member).value_or(any_rank) : 0;
  if (rank == any_rank) return;
  if (inbox) {
    if (const auto receive = inbox->match(rank, packet.tag)) {
      accept(*inbox, receive, rank, packet.tag, packet.id, packet.bytes);
      return;
    }
  }
  auto arrival = std::make_shared<Inbox::Unexpected>();
  arrival->rank = rank;
  arrival->tag = packet.tag;
  arrival->bytes = packet.bytes;
  arrival->id = packet.id;
  arrival->is_request = true;
  if (inbox) {
    inbox->keep(std::move(arrival));
  } else {
    keep_early(member, std::move(arrival));
  }
}

void Messenger::take_ready(std::uint32_t member) {
  const auto found = requests_.find(peers_[member].packet.id);
  if (found == requests_.end()) return;  // Its communicator was closed.
  const std::shared_ptr<Message> send = std::move(found->second);
  requests_.erase(found);
  if (send->bytes == 0) {
    finish(*send);
  } else {
    peers_[member].transfers.push_back(send);
  }
  Inbox& inbox = *send->inbox_;
  inbox.untaken(send->peer) -= cost_of_message;
  launch_waiting(inbox, send->peer);
}

void Messenger::take_data(std::uint32_t member) {
  Peer& peer = peers_[member];
  peer.left = peer.packet.bytes;
  const auto found = peer.awaited.find(peer.packet.id);
  if (found == peer.awaited.end()) return;
  peer.receive = found->second;
  peer.inbox = peer.receive->inbox_;
  peer.to = peer.receive->data + peer.receive->moved_;
}

void Messenger::take_credit(std::uint32_t member, const std::shared_ptr<Inbox>& inbox) {
  if (!inbox) return;
  const std::optional<std::uint32_t> rank = inbox->rank_of(member);
  if (!rank) return;
  inbox->untaken(*rank) -= peers_[member].packet.bytes;
  launch_waiting(*inbox, *rank);
}

/// All data that follows the packet is here.
void Messenger::close_packet(std::uint32_t member) {
  Peer& peer = peers_[member];
  const std::shared_ptr<Message> receive = std::exchange(peer.receive, nullptr);
  const Inbox::Arrival arrival = std::exchange(peer.arrival, nullptr);
  const std::shared_ptr<Inbox> inbox = std::exchange(peer.inbox, nullptr);
  peer.to = nullptr;
  if (peer.packet.kind == Packet::Kind::data) {
    if (!receive) return;
    receive->moved_ += peer.packet.bytes;
    if (receive->moved_ < receive->envelope.bytes) return;
    peer.awaited.erase(peer.packet.id);
    if (inbox->owner().has_stood_down(receive->envelope.rank)) {
      refuse(*receive, std::make_exception_ptr(Error(
                           ErrorCode::peer_lost,
                           "rank " + std::to_string(receive->envelope.rank) + " has given up")));
      return;
    }
    finish(*receive);
    return;
  }
  if (receive) {
    finish(*receive);
    note_taken(*inbox, receive->envelope.rank, peer.packet.bytes);
  } else if (arrival) {
    arrival->is_complete = true;
    if (arrival->taken_by) deliver(*inbox_of(peer.packet.context), arrival->taken_by, *arrival);
  } else if (inbox) {
    note_taken(*inbox, *inbox->rank_of(member), peer.packet.bytes);
  }
}

// Waiting ---------------------------------------------------------------------------------------

template <class F>
bool Messenger::progress(Lock& lock, Inbox& inbox, Clock::time_point until, const Message& about,
                         F&& is_over) {
  bool leads = false;
  ++waiting_;
  const auto leave = [&] {
    --waiting_;
    if (leads) has_leader_ = false;
    if (waiting_ > 0 || is_tended_) changed_.notify_all();
  };
  const Clock::time_point begun = about.begun_;
  try {
    bool has_slept = false;
    for (std::uint32_t idle = 0; !is_over();) {
      if (!leads && !has_leader_) {
        has_leader_ = leads = true;
        idle = 0;
      }
      if (leads) {
        if (pass()) {
          idle = 0;
          report_failures(lock);
          if (waiting_ > 1) changed_.notify_all();
          continue;
        }
        ++idle;
      } else {
        if (tender_leads_) port_->interrupt();
        changed_.wait_for(lock, tender_naps);
        ++idle;
        if (is_over()) break;
      }
      constexpr std::uint32_t looks_between = 64;
      constexpr std::uint32_t a_while = 256;
      if (!leads || has_slept || idle > a_while || idle % looks_between == 0) {
        const Clock::time_point now = Clock::now();
        if (now >= until) {
          leave();
          return false;
        }
        if (inbox.owner().is_alarmed()) {
          lock.unlock();
          try {
            inbox.owner().check(about, now - begun);
          } catch (...) {
            lock.lock();
            throw;
          }
          lock.lock();
        }
      }
      if (!leads) continue;
      lock.unlock();
      has_slept = port_->wait(idle, until);
      lock.lock();
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
  return true;
}

void Messenger::wait(Inbox& inbox, Message& message) {
  Lock lock(mutex_);
  if (message.is_done()) return;
  ++message.watchers_;
  try {
    const bool is_done =
        progress(lock, inbox, message.deadline, message, [&] { return message.is_done(); });
    --message.watchers_;
    if (is_done) return;
  } catch (...) {
    --message.watchers_;
    throw;
  }
  throw Error(ErrorCode::timed_out,
              message.kind == Message::Kind::send
                  ? "what was sent is not taken by rank " + std::to_string(message.peer)
              : message.peer == any_rank
                  ? std::string("nothing comes from any rank")
                  : "nothing comes from rank " + std::to_string(message.peer));
}

bool Messenger::wait_until(Inbox& inbox, Message& message, Clock::time_point until) {
  Lock lock(mutex_);
  try {
    (void)progress(lock, inbox, until, message,
                   [&] { return message.is_done() || message.is_failing_; });
  } catch (const Error&) {
    // Its owner sees to it.
    refuse(message, std::current_exception());
    report_failures(lock);
  }
  return message.is_done();
}

std::optional<Envelope> Messenger::probe(Inbox& inbox, std::uint32_t rank, std::uint32_t tag) {
  Lock lock(mutex_);
  if (rank != any_rank && rank != inbox.self()) peers_[inbox.member(rank)].is_wanted = true;
  if (!has_leader_) {
    (void)pass();
    (void)port_->goes_on(Clock::time_point::max());
    report_failures(lock);
  }
  const Inbox::Arrival found = inbox.find(rank, tag);
  if (!found) return std::nullopt;
  return Envelope{.rank = found->rank, .tag = found->tag, .bytes = found->bytes};
}

Envelope Messenger::wait_for_message(Inbox& inbox, std::uint32_t rank, std::uint32_t tag,
                                     Clock::time_point deadline) {
  Lock lock(mutex_);
  if (rank != any_rank && rank != inbox.self()) peers_[inbox.member(rank)].is_wanted = true;
  Message about;
  about.kind = Message::Kind::receive;
  about.peer = rank;
  about.tag = tag;
  about.begun_ = Clock::now();
  Inbox::Arrival found;
  const bool is_here = progress(lock, inbox, deadline, about, [&] {
    found = inbox.find(rank, tag);
    return found != nullptr;
  });
  if (is_here) return {.rank = found->rank, .tag = found->tag, .bytes = found->bytes};
  throw Error(ErrorCode::timed_out, rank == any_rank
                                        ? std::string("nothing comes from any rank")
                                        : "nothing comes from rank " + std::to_string(rank));
}

// When nobody waits -----------------------------------------------------------------------------

/// Looks after messages that nobody waits for.
class Messenger::Tender final : public PoolTask {
 public:
  explicit Tender(Messenger& messenger) : messenger_(messenger) {}
  void run() override { messenger_.tend(); }

 private:
  Messenger& messenger_;
};

void Messenger::need_tending() {
  if (is_tended_) return;
  is_tended_ = true;
  try {
    WorkerPool::own().run(std::make_shared<Tender>(*this));
  } catch (const Error&) {
    is_tended_ = false;  // They go on whenever somebody waits for one of them.
  }
}

bool Messenger::is_tending_needed() const {
  return !running_.empty() || Clock::now() < drains_until_;
}

void Messenger::tend() {
  Lock lock(mutex_);
  Clock::time_point last_needed = Clock::now();
  Clock::time_point looked{};
  while (!is_closing_) {
    const Clock::time_point now = Clock::now();
    if (is_tending_needed()) last_needed = now;
    if (now > last_needed + tender_stays) break;
    report_failures(lock);
    if (!is_tending_needed() || has_leader_ || waiting_ > 0) {
      changed_.wait_for(lock, tender_naps);
    } else {
      lead_for_all(lock);
    }
    constexpr auto looks_between = 10ms;
    if (Clock::now() < looked + looks_between) continue;
    end_hopeless(lock);
    looked = Clock::now();
  }
  is_tended_ = false;
  changed_.notify_all();
}

/// Moves messages on until somebody waits for one, or for a while.
void Messenger::lead_for_all(Lock& lock) {
  constexpr std::uint32_t at_once = 1U << 20;  // It sleeps at once: nobody is in a hurry.
  has_leader_ = tender_leads_ = true;
  for (int rounds = 0; rounds < 8 && waiting_ == 0 && is_tending_needed() && !is_closing_;
       ++rounds) {
    if (pass()) continue;
    lock.unlock();
    port_->wait(at_once, Clock::now() + 10ms);
    lock.lock();
  }
  has_leader_ = tender_leads_ = false;
  changed_.notify_all();
}

/// Whether messages that nobody waits for can still be done.
void Messenger::end_hopeless(Lock& lock) {
  const Clock::time_point now = Clock::now();
  std::vector<std::shared_ptr<Message>> doubtful;
  for (const std::shared_ptr<Message>& message : running_) {
    if (message->watchers_ > 0 || message->is_failing_) continue;
    if (message->deadline <= now) {
      const std::string who =
          message->peer == any_rank ? "any rank" : "rank " + std::to_string(message->peer);
      failures_.push_back({.message = message,
                           .cause = std::make_exception_ptr(Error(
                               ErrorCode::timed_out, message->kind == Message::Kind::send
                                                         ? "what was sent is not taken by " + who
                                                         : "nothing comes from " + who))});
      message->is_failing_ = true;
    } else if (message->inbox_->owner().is_alarmed()) {
      doubtful.push_back(message);
    }
  }
  lock.unlock();
  std::vector<Failure> found;
  for (const std::shared_ptr<Message>& message : doubtful) {
    try {
      message->inbox_->owner().check(*message, now - message->begun_);
    } catch (...) {
      found.push_back({.message = message, .cause = std::current_exception()});
    }
  }
  lock.lock();
  for (Failure& failure : found) {
    if (failure.message->is_done() || std::exchange(failure.message->is_failing_, true)) continue;
    failures_.push_back(std::move(failure));
  }
  report_failures(lock);
}

}  // namespace tutti
