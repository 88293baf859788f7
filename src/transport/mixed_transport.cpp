#include "transport/mixed_transport.hpp"

#include <algorithm>

namespace tutti {

MixedTransport::MixedTransport(Transport& memory, Transport& elsewhere,
                               std::vector<std::optional<Rank>> neighbours, Patience patience)
    : memory_(memory),
      elsewhere_(elsewhere),
      neighbours_(std::move(neighbours)),
      patience_(patience) {}

MixedTransport::Way MixedTransport::way(Rank peer) const {
  const std::optional<Rank> neighbour = neighbours_[peer.index()];
  if (neighbour) return {.transport = &memory_, .rank = *neighbour};
  return {.transport = &elsewhere_, .rank = peer};
}

void MixedTransport::read_in_place_from(std::size_t bytes) { memory_.read_in_place_from(bytes); }

void MixedTransport::begin(std::uint32_t sent, std::uint32_t received) {
  memory_.begin(sent, received);
  elsewhere_.begin(sent, received);
}

std::span<const std::byte> MixedTransport::arrived(Rank peer) {
  const auto [transport, rank] = way(peer);
  return transport->arrived(rank);
}

void MixedTransport::consume(Rank peer, std::size_t bytes) {
  const auto [transport, rank] = way(peer);
  transport->consume(rank, bytes);
}

std::size_t MixedTransport::receive(Rank peer, std::span<std::byte> to) {
  const auto [transport, rank] = way(peer);
  return transport->receive(rank, to);
}

std::size_t MixedTransport::send(std::span<const Rank> peers, std::span<const std::byte> data) {
  translated_.clear();
  for (const Rank peer : peers) translated_.push_back(way(peer).rank);
  return way(peers.front()).transport->send(translated_, data);
}

/// Lanes of memory are even, the others odd.
std::uint32_t MixedTransport::lane(Rank peer) const {
  const auto [transport, rank] = way(peer);
  return transport->lane(rank) * 2 + (transport == &memory_ ? 0 : 1);
}

std::uint64_t MixedTransport::released(Rank peer) {
  const auto [transport, rank] = way(peer);
  return transport->released(rank);
}

std::uint64_t MixedTransport::sent(Rank peer) const {
  const auto [transport, rank] = way(peer);
  return transport->sent(rank);
}

void MixedTransport::abandon() {
  memory_.abandon();
  elsewhere_.abandon();
}

void MixedTransport::stand_down() { memory_.stand_down(); }

bool MixedTransport::is_lending(const std::function<bool(Rank)>& is_gone) {
  return memory_.is_lending([&](Rank neighbour) {
    const auto found = std::find(neighbours_.begin(), neighbours_.end(), neighbour);
    return is_gone(Rank{static_cast<std::uint32_t>(found - neighbours_.begin())});
  });
}

bool MixedTransport::wait(std::uint32_t idle, Clock::time_point deadline) {
  // Memory may go to sleep much earlier, when it finds its core crowded: then it is time to look
  // after connections, which are made by nobody else.
  if (idle == 1) memory_has_slept_ = false;
  if (!memory_has_slept_ && idle <= patience_.spins + patience_.yields) {
    memory_has_slept_ = memory_.wait(idle, deadline);
    return memory_has_slept_;
  }
  return elsewhere_.wait(idle, deadline);
}

}  // namespace tutti
