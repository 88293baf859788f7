#include "lifeline/lifeline.hpp"

#include <algorithm>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// True if the sender waits for a reply.
bool expects_reply(ControlMessage::Kind kind) {
  switch (kind) {
    case ControlMessage::Kind::input:
    case ControlMessage::Kind::prepare:
    case ControlMessage::Kind::contribution:
    case ControlMessage::Kind::status:
      return true;
    default:
      return false;
  }
}

}  // namespace

Lifeline::Lifeline(std::uint32_t self, std::vector<std::string> whereabouts)
    : self_(self), whereabouts_(std::move(whereabouts)) {}

Lifeline::~Lifeline() { attach(nullptr); }

void Lifeline::attach(std::unique_ptr<ControlTransport> transport) {
  // The former one is destroyed without the lock, since its thread may wait for it.
  const std::lock_guard lock(mutex_);
  transport_.swap(transport);
}

void Lifeline::receive(std::uint32_t from, const std::string& bytes) {
  std::optional<ControlMessage> message = decode_control_message(bytes);
  if (!message) return;
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(message->communicator);
  if (const auto closed = closed_.find(message->communicator); closed != closed_.end()) {
    // The transport delivers messages until it is destroyed, but sends no more.
    if (!expects_reply(message->kind) || !transport_) return;
    transport_->send(from,
                     encode({.kind = ControlMessage::Kind::leave,
                             .communicator = message->communicator,
                             .body = write(closed->second.to(from))}),
                     Delivery::if_connected);
    return;
  }
  if (found == groups_.end()) {
    if (early_.size() == most_early) early_.pop_front();
    early_.push_back({.from = from, .message = std::move(*message)});
    return;
  }
  found->second.receive(from, *message, Clock::now());
  changed_.notify_all();
}

void Lifeline::lose(std::uint32_t member, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!lost_.emplace(member, why).second) return;
  for (auto& [communicator, group] : groups_) group.lose(member, why, Clock::now());
  changed_.notify_all();
}

std::string Lifeline::farewell() {
  const std::lock_guard lock(mutex_);
  return write(closed_);
}

void Lifeline::receive_farewell(std::uint32_t from, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const Farewell& farewell = farewells_.emplace(from, read_farewell(text)).first->second;
  for (auto& [communicator, group] : groups_) apply(group, communicator, from, farewell);
  changed_.notify_all();
}

void Lifeline::apply(GroupState& group, std::uint64_t communicator, std::uint32_t from,
                     const Farewell& farewell) const {
  const auto told = farewell.find(communicator);
  if (told == farewell.end()) return;
  group.receive(from,
                {.kind = ControlMessage::Kind::leave,
                 .communicator = communicator,
                 .body = write(told->second.to(self_))},
                Clock::now());
}

bool Lifeline::tick() {
  const std::lock_guard lock(mutex_);
  bool soon = false;
  for (auto& [communicator, group] : groups_) soon = group.tick(Clock::now()) || soon;
  changed_.notify_all();
  return soon;
}

void Lifeline::open(const GroupState::Config& config, std::atomic<bool>& alarm,
                    Participant& participant) {
  GroupState::Environment environment{
      .send = [this](std::uint32_t to, const ControlMessage& message,
                     Delivery delivery) { transport_->send(to, encode(message), delivery); },
      .request_ticks = [this] { transport_->request_ticks(); },
      .whereabouts = whereabouts_};
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] =
      groups_.try_emplace(config.communicator, config, std::move(environment), alarm, participant);
  if (!is_new) {
    throw Error(ErrorCode::internal, "member " + std::to_string(self_) +
                                         " has two communicators with the number " +
                                         std::to_string(config.communicator));
  }
  GroupState& group = place->second;
  // Messages first: a member that is lost by now may have said before that it leaves.
  for (auto each = early_.begin(); each != early_.end();) {
    if (each->message.communicator != config.communicator) {
      ++each;
      continue;
    }
    group.receive(each->from, each->message, Clock::now());
    each = early_.erase(each);
  }
  for (const auto& [member, farewell] : farewells_) {
    apply(group, config.communicator, member, farewell);
  }
  for (const auto& [member, why] : lost_) group.lose(member, why, Clock::now());
}

void Lifeline::close(std::uint64_t communicator) {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(communicator);
  found->second.leave(0);
  note_closed(communicator, found->second.told_at_leaving());
  groups_.erase(found);
}

void Lifeline::decline(std::uint64_t communicator, std::span<const std::uint32_t> members) {
  const std::lock_guard lock(mutex_);
  note_closed(communicator, {});
  const std::string message = encode(
      {.kind = ControlMessage::Kind::leave, .communicator = communicator, .body = write(Leave{})});
  for (const std::uint32_t member : members) {
    if (member != self_) transport_->send(member, message, Delivery::if_connected);
  }
}

void Lifeline::note_closed(std::uint64_t communicator, LeaveOfAll told) {
  if (!closed_.emplace(communicator, std::move(told)).second) return;
  closed_in_order_.push_back(communicator);
  if (closed_in_order_.size() <= most_closed) return;
  closed_.erase(closed_in_order_.front());
  closed_in_order_.pop_front();
}

Lifeline::Locked Lifeline::lock(std::uint64_t communicator) {
  std::unique_lock lock(mutex_);
  GroupState& group = groups_.at(communicator);
  return {std::move(lock), changed_, group};
}

bool Lifeline::is_lost(std::uint32_t member) {
  const std::lock_guard lock(mutex_);
  return lost_.contains(member);
}

bool Lifeline::expects(std::uint32_t member) {
  const std::lock_guard lock(mutex_);
  return std::any_of(groups_.begin(), groups_.end(),
                     [&](const auto& each) { return each.second.expects(member); });
}

}  // namespace tutti
