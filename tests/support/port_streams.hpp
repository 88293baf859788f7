#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "transport/port.hpp"

/// One peer's stream at a time, for tests of ports.
namespace tutti::test {

/// Sends the first bytes of `data`, as many as the port takes, and returns their number.
[[nodiscard]] inline std::size_t send(Port& port, Rank peer, std::span<const std::byte> data) {
  const Port::Send send{.peers = {&peer, 1}, .data = data, .message = data.size()};
  const Port::Posted posted = port.post({&send, 1});
  return posted.sends == 1 ? data.size() : posted.bytes;
}

/// The next bytes from a peer.
[[nodiscard]] inline std::span<const std::byte> arrived(Port& port, Rank peer) {
  const void* data = nullptr;
  const std::size_t bytes = port.poll({&peer, 1}, {}, &data, {});
  return {static_cast<const std::byte*>(data), bytes};
}

inline void consume(Port& port, Rank peer, std::size_t bytes) { port.consume({&peer, 1}, bytes); }

/// Moves bytes from a peer to `to`, as many as have arrived and fit, and returns their number.
[[nodiscard]] inline std::size_t receive(Port& port, Rank peer, std::span<std::byte> to) {
  const void* data = nullptr;
  const std::size_t bytes = std::min(to.size(), port.poll({&peer, 1}, to, &data, {}));
  if (bytes == 0) return 0;
  if (data != to.data()) std::memcpy(to.data(), data, bytes);
  port.consume({&peer, 1}, bytes);
  return bytes;
}

[[nodiscard]] inline bool is_released(Port& port, Rank peer) { return port.unreleased(peer) == 0; }

}  // namespace tutti::test
