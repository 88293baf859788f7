#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

/// The traffic between this rank and one peer.
struct PeerCounters {
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t messages_sent = 0;  ///< Steps of the schedules, as `tutti cost` counts them.
  std::uint64_t messages_received = 0;
  std::uint64_t slices_sent = 0;  ///< Messages are cut into slices.
  std::uint64_t slices_received = 0;

  friend bool operator==(const PeerCounters&, const PeerCounters&) = default;
};

/// The traffic of one rank in all its calls of one collective.
struct Counters {
  std::uint64_t calls = 0;
  std::uint64_t waits = 0;  ///< How often the rank had nothing to do but wait.
  /// Bytes of `bytes_sent` that this rank has written into the receivers' buffers by itself.
  std::uint64_t bytes_put = 0;
  std::vector<PeerCounters> peers;

  /// The sum over all peers.
  [[nodiscard]] PeerCounters total() const {
    PeerCounters sum;
    for (const PeerCounters& peer : peers) {
      sum.bytes_sent += peer.bytes_sent;
      sum.bytes_received += peer.bytes_received;
      sum.messages_sent += peer.messages_sent;
      sum.messages_received += peer.messages_received;
      sum.slices_sent += peer.slices_sent;
      sum.slices_received += peer.slices_received;
    }
    return sum;
  }
};

}  // namespace tutti
