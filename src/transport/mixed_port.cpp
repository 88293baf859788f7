#include "transport/mixed_port.hpp"

#include <algorithm>

namespace tutti {
namespace {

/// Lanes of different ports differ.
std::vector<std::uint32_t> lanes_of(const std::vector<std::unique_ptr<Port>>& ports,
                                    const std::vector<std::uint8_t>& ways) {
  std::vector<std::uint32_t> lanes;
  for (std::size_t rank = 0; rank < ways.size(); ++rank) {
    const std::vector<std::uint32_t>& within = ports[ways[rank]]->lanes();
    const std::uint32_t lane = within.empty() ? 0 : within[rank];
    lanes.push_back(lane * static_cast<std::uint32_t>(ports.size()) + ways[rank]);
  }
  return lanes;
}

}  // namespace

MixedPort::MixedPort(std::vector<std::unique_ptr<Port>> ports, std::vector<std::uint8_t> ways)
    : Port(lanes_of(ports, ways)), ports_(std::move(ports)), ways_(std::move(ways)) {}

template <class Each, class RankOf>
std::size_t MixedPort::alike(std::span<Each> all, RankOf&& rank_of) const {
  const std::uint8_t first = ways_[rank_of(all.front())];
  std::size_t count = 1;
  while (count < all.size() && ways_[rank_of(all[count])] == first) ++count;
  return count;
}

void MixedPort::begin(std::uint32_t tag, const Terms& terms) {
  for (const auto& port : ports_) port->begin(tag, terms);
}

Port::Posted MixedPort::post(std::span<const Send> sends) {
  Posted all;
  while (!sends.empty()) {
    const std::size_t count = alike(sends, [](const Send& send) { return send.peers.front(); });
    const Posted some = way(sends.front().peers.front()).post(sends.first(count));
    all.sends += some.sends;
    all.is_outstanding = all.is_outstanding || some.is_outstanding;
    all.bytes = some.bytes;
    if (some.sends < count) break;
    sends = sends.subspan(count);
  }
  return all;
}

Port::Copies MixedPort::prepare(const Send& send, std::size_t reading, bool may_stage,
                                std::vector<std::byte*>& copies) {
  return way(send.peers.front()).prepare(send, reading, may_stage, copies);
}

std::size_t MixedPort::unreleased(Rank peer) { return way(peer).unreleased(peer); }

void MixedPort::copy_unreleased(Rank peer) { way(peer).copy_unreleased(peer); }

std::size_t MixedPort::poll(std::span<const Rank> peers, std::span<std::byte> into,
                            const void** data, std::span<const Rank> /*next*/) {
  std::size_t least = ~std::size_t{0};
  while (!peers.empty()) {
    const std::size_t count = alike(peers, [](Rank peer) { return peer; });
    const std::size_t bytes = way(peers.front()).poll(peers.first(count), into, data, {});
    if (bytes == 0) return 0;
    least = std::min(least, bytes);
    data += count;
    peers = peers.subspan(count);
  }
  return least;
}

void MixedPort::consume(std::span<const Rank> peers, std::size_t bytes) {
  while (!peers.empty()) {
    const std::size_t count = alike(peers, [](Rank peer) { return peer; });
    way(peers.front()).consume(peers.first(count), bytes);
    peers = peers.subspan(count);
  }
}

bool MixedPort::may_arrive(Rank peer, bool has_ended) {
  return way(peer).may_arrive(peer, has_ended);
}

void MixedPort::revoke() {
  for (const auto& port : ports_) port->revoke();
}

bool MixedPort::has_revoked(Rank peer) const { return way(peer).has_revoked(peer); }

bool MixedPort::is_exposed(const std::function<bool(Rank)>& is_gone) {
  return std::any_of(ports_.begin(), ports_.end(),
                     [&](const auto& port) { return port->is_exposed(is_gone); });
}

void MixedPort::abandon() {
  for (const auto& port : ports_) port->abandon();
}

/// Sleeps as soon as one port would: the one that is most expensive to poll decides.
Port::Outlook MixedPort::progress(std::uint32_t idle, Clock::time_point deadline) {
  Outlook all = Outlook::soon;
  for (const auto& port : ports_) {
    const Outlook outlook = port->progress(idle, deadline);
    if (outlook == Outlook::moved) return outlook;
    all = std::max(all, outlook);
  }
  return all;
}

void MixedPort::arm(WokenBy by) {
  for (const auto& port : ports_) {
    port->arm(by == WokenBy::nobody ? by : WokenBy::descriptors);
  }
}

void MixedPort::sleep(Clock::time_point deadline) { ports_.back()->sleep(deadline); }

void MixedPort::interrupt() { ports_.back()->interrupt(); }

}  // namespace tutti
