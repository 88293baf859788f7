#include "messages/inboxes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti {
namespace {

/// How many closed contexts are remembered.
constexpr std::size_t most_closed = 4096;

}  // namespace

std::shared_ptr<Inbox> Inboxes::open(const Membership& membership, MessageOwner& owner) {
  auto inbox = std::make_shared<Inbox>(membership, owner);
  open_[membership.context] = inbox;
  const auto early = early_.find(membership.context);
  if (early == early_.end()) return inbox;
  for (const Arrival& arrival : early->second) {
    const std::optional<std::uint32_t> rank = inbox->rank_of(arrival->rank);
    if (!rank) continue;
    arrival->rank = *rank;
    if (arrival->is_complete) ++inbox->arrived(*rank);
    inbox->unexpected().keep(arrival);
  }
  early_.erase(early);
  return inbox;
}

void Inboxes::close(const Inbox& inbox) {
  closed_.push_back(inbox.context());
  if (closed_.size() > most_closed) closed_.pop_front();
  open_.erase(inbox.context());
}

std::shared_ptr<Inbox> Inboxes::find(std::uint64_t context) const {
  const auto found = open_.find(context);
  return found == open_.end() ? nullptr : found->second;
}

bool Inboxes::is_closed(std::uint64_t context) const {
  return std::find(closed_.begin(), closed_.end(), context) != closed_.end();
}

void Inboxes::keep_early(std::uint64_t context, std::uint32_t member, Arrival arrival) {
  arrival->rank = member;
  early_[context].push_back(std::move(arrival));
}

}  // namespace tutti
