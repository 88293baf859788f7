#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include <tutti/error.hpp>

#include "exec/packet.hpp"
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
        const std::span<const std::byte> here = port.arrived(from);
        if (here.empty()) return moved;
        if (here.size() < sizeof(Packet)) {
          throw Error(ErrorCode::internal,
                      "rank " + std::to_string(from.index()) + " sent half a packet");
        }
        std::memcpy(&packet, here.data(), sizeof(Packet));
        port.consume(from, sizeof(Packet));
        --most;
        to = nullptr;
        open();
      } else {
        const std::size_t bytes = to == nullptr ? drop(port, from) : port.receive(from, {to, left});
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
  [[nodiscard]] std::size_t drop(Port& port, Rank from) const {
    const std::size_t bytes = std::min(port.arrived(from).size(), left);
    if (bytes > 0) port.consume(from, bytes);
    return bytes;
  }
};

}  // namespace tutti
