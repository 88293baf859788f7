#include "api/group/roster.hpp"

#include <algorithm>
#include <numeric>

#include <tutti/error.hpp>

namespace tutti {

Roster::Roster(Exchange& exchange, std::uint32_t self, std::uint32_t ranks,
               const FabricSettings& settings)
    : self_(self) {
  RankDescriptor own = own_descriptor(settings);
  if (ranks > 1) own.trouble = trouble_with_descriptors(ranks);
  const std::string* before = nullptr;
  const std::vector<std::string> texts = exchange.all_gather(write(own));
  for (const std::string& text : texts) {
    // Those of threads are all the same.
    const bool is_same = before != nullptr && *before == text;
    descriptors_.push_back(is_same ? RankDescriptor(descriptors_.back())
                                   : read_rank_descriptor(text));
    before = &text;
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const RankDescriptor& descriptor = descriptors_[r];
    if (descriptor.transport != own.transport) {
      throw Error(ErrorCode::mismatch, "rank " + std::to_string(r) +
                                           " has another TUTTI_TRANSPORT than rank " +
                                           std::to_string(self) + ": give all ranks the same");
    }
    members_.push_back({.host = descriptor.host,
                        .network = descriptor.network,
                        .name = descriptor.name,
                        .pid = descriptor.pid,
                        .heap_fd = descriptor.heap_fd,
                        .heap_file = descriptor.heap_file});
  }
  const auto is_true_of_all = [&](auto&& predicate) {
    return std::all_of(descriptors_.begin(), descriptors_.end(), predicate);
  };
  is_one_network_ =
      is_true_of_all([&](const RankDescriptor& each) { return each.network == own.network; });
  is_one_process_ = is_true_of_all(
      [&](const RankDescriptor& each) { return each.pid == own.pid && each.host == own.host; });
  for (Whereabouts& member : members_) member.is_one_process = is_one_process_;
  if (!is_one_process_) require_no_trouble();
}

/// All ranks throw at once, instead of waiting for the one that fails.
void Roster::require_no_trouble() const {
  for (std::uint32_t r = 0; r < size(); ++r) {
    const RankDescriptor& descriptor = descriptors_[r];
    if (descriptor.trouble.empty()) continue;
    throw Error(ErrorCode::unsupported,
                "rank " + std::to_string(r) + " on " + descriptor.name + ": " + descriptor.trouble);
  }
}

bool Roster::is_roomy() const { return !hosts_of(everyone()).at(own().host).is_crowded(); }

Membership Roster::everyone() const {
  Membership membership{.self = self_};
  membership.members.resize(size());
  std::iota(membership.members.begin(), membership.members.end(), 0);
  return membership;
}

std::map<std::string, Roster::HostLoad> Roster::hosts_of(const Membership& membership) const {
  std::map<std::string, HostLoad> hosts;
  for (const std::uint32_t member : membership.members) {
    const RankDescriptor& descriptor = descriptors_[member];
    HostLoad& load = hosts[descriptor.host];
    ++load.ranks;
    load.cores.insert(descriptor.cores.begin(), descriptor.cores.end());
  }
  return hosts;
}

Shape Roster::shape_of_hosts(const Membership& membership) const {
  const auto hosts = static_cast<std::uint32_t>(hosts_of(membership).size());
  const std::uint32_t ranks = membership.size();
  if (ranks % hosts != 0) return {};
  const std::uint32_t each = ranks / hosts;
  const auto host = [&](std::uint32_t rank) { return descriptors_[membership.members[rank]].host; };
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (host(r) != host(r - r % each)) return {};
  }
  return {.dimensions = {each, hosts}};
}

}  // namespace tutti
