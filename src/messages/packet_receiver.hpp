#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include <tutti/error.hpp>

#include "messages/packet.hpp"
#include "transport/port.hpp"

namespace tutti {

/// Packets of one member as they arrive, each with the data that follows it.
struct PacketReceiver {
  Packet packet{};          // The last one,
  std::size_t left = 0;     // how many bytes of its data are still to come,
  std::byte* to = nullptr;  // and where they go. Null: they are dropped.

  /// Receives at most `most` packets without waiting. `open` is called for each packet and sets
  /// `left` and `to`; `close` is called when all its data has arrived, if there was any. True if
  /// anything arrived.
  template <class Open, class Close>
  [[nodiscard]] bool pump(Port& port, Rank from, int most, Open&& open, Close&& close) {
    bool moved = false;
    while (most > 0) {
      if (left == 0) {
        const void* here = nullptr;
        const std::size_t bytes = port.poll({&from, 1}, {}, &here, {});
        if (bytes == 0) return moved;
        if (bytes < sizeof(Packet)) {
          throw Error(ErrorCode::internal, "rank " + std::to_string(from) + " sent half a packet");
        }
        std::memcpy(&packet, here, sizeof(Packet));
        port.consume({&from, 1}, sizeof(Packet));
        --most;
        to = nullptr;
        open();
      } else {
        const std::size_t bytes = receive(port, from);
        if (bytes == 0) return moved;
        if (to != nullptr) to += bytes;
        left -= bytes;
        if (left == 0) close();
      }
      moved = true;
    }
    return moved;
  }

 private:
  /// Receives the next bytes of the data.
  [[nodiscard]] std::size_t receive(Port& port, Rank from) const {
    const void* here = nullptr;
    const std::size_t arrived = port.poll({&from, 1}, {to, to == nullptr ? 0 : left}, &here, {});
    const std::size_t bytes = std::min(arrived, left);
    if (bytes == 0) return 0;
    if (to != nullptr && here != to) std::memcpy(to, here, bytes);
    port.consume({&from, 1}, bytes);
    return bytes;
  }
};

}  // namespace tutti
