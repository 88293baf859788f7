#include "exec/inbox.hpp"

#include <algorithm>

namespace tutti {
namespace {

bool fits(std::uint32_t wanted, std::uint32_t found, std::uint32_t any) {
  return wanted == any || wanted == found;
}

}  // namespace

Inbox::Inbox(const Membership& membership, MessageOwner& owner)
    : context_(membership.context),
      owner_(owner),
      self_(membership.self.index()),
      members_(membership.members) {}

Inbox::Arrival Inbox::arrival_of(const Envelope& envelope) {
  auto arrival = std::make_shared<Unexpected>();
  arrival->rank = envelope.rank;
  arrival->tag = envelope.tag;
  arrival->bytes = envelope.bytes;
  return arrival;
}

std::optional<std::uint32_t> Inbox::rank_of(std::uint32_t member) const {
  const auto found = std::find(members_.begin(), members_.end(), member);
  if (found == members_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - members_.begin());
}

std::shared_ptr<Message> Inbox::match(std::uint32_t rank, std::uint32_t tag) {
  const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const auto& each) {
    return fits(each->peer, rank, any_rank) && fits(each->tag, tag, any_tag);
  });
  if (found == posted_.end()) return nullptr;
  std::shared_ptr<Message> receive = std::move(*found);
  posted_.erase(found);
  return receive;
}

Inbox::Arrival Inbox::find(std::uint32_t rank, std::uint32_t tag) const {
  const auto found = std::find_if(unexpected_.begin(), unexpected_.end(), [&](const Arrival& each) {
    return fits(rank, each->rank, any_rank) && fits(tag, each->tag, any_tag);
  });
  return found == unexpected_.end() ? nullptr : *found;
}

void Inbox::take(const Arrival& arrival) { unexpected_.remove(arrival); }

bool Inbox::withdraw(const Message& receive) {
  const auto found = std::find_if(posted_.begin(), posted_.end(),
                                  [&](const auto& each) { return each.get() == &receive; });
  if (found == posted_.end()) return false;
  posted_.erase(found);
  return true;
}

}  // namespace tutti
