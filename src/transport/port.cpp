#include "transport/port.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti {

std::size_t Port::receive(Rank peer, std::span<std::byte> to) {
  const std::span<const std::byte> from = arrived(peer);
  const std::size_t bytes = std::min(from.size(), to.size());
  if (bytes == 0) return 0;
  if (from.data() != to.data()) std::memcpy(to.data(), from.data(), bytes);  // Else it was put.
  consume(peer, bytes);
  return bytes;
}

std::size_t Port::arrived_from_each(std::span<const Rank> peers, std::span<const void*> data) {
  std::size_t least = ~std::size_t{0};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const std::span<const std::byte> from = arrived(peers[i]);
    if (from.empty()) return 0;
    data[i] = from.data();
    least = std::min(least, from.size());
  }
  return least;
}

void Port::consume_from_each(std::span<const Rank> peers, std::size_t bytes) {
  for (const Rank peer : peers) consume(peer, bytes);
}

bool Port::all_released(std::span<const Rank> peers) {
  return std::all_of(peers.begin(), peers.end(),
                     [this](Rank peer) { return released(peer) == sent(peer); });
}

bool Port::wait_until(std::uint32_t idle, Clock::time_point until, Clock::time_point deadline) {
  if (goes_on(deadline)) return false;
  if (stay_awake(idle)) {
    if (std::exchange(is_lying_, false)) get_up();
    return false;
  }
  if (!std::exchange(is_lying_, true)) {
    lie_down(WokenBy::itself);
    return false;
  }
  sleep(until);
  lie_down(WokenBy::itself);
  return true;
}

}  // namespace tutti
