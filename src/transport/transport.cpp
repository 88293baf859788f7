#include "transport/transport.hpp"

#include <algorithm>
#include <cstring>

namespace tutti {

std::size_t Transport::receive(Rank peer, std::span<std::byte> to) {
  const std::span<const std::byte> from = arrived(peer);
  const std::size_t bytes = std::min(from.size(), to.size());
  if (bytes == 0) return 0;
  std::memcpy(to.data(), from.data(), bytes);
  consume(peer, bytes);
  return bytes;
}

}  // namespace tutti
