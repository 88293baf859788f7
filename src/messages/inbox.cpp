#include "messages/inbox.hpp"

#include <algorithm>

namespace tutti {
Inbox::Inbox(const Membership& membership, MessageOwner& owner)
    : context_(membership.context),
      owner_(owner),
      self_(membership.self),
      members_(membership.members) {}

std::optional<std::uint32_t> Inbox::rank_of(std::uint32_t member) const {
  const auto found = std::find(members_.begin(), members_.end(), member);
  if (found == members_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - members_.begin());
}

std::map<std::uint32_t, std::uint64_t> Inbox::all_sent() const {
  std::map<std::uint32_t, std::uint64_t> all;
  for (const auto& [rank, peer] : peers_) {
    if (peer.sent > 0) all.emplace(rank, peer.sent);
  }
  return all;
}

}  // namespace tutti
