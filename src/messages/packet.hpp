#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// The header that messengers exchange. It fits exactly inline in a descriptor of shared memory, so
/// that a short message takes one cache line.
struct Packet {
  enum class Kind : std::uint32_t {
    eager,    ///< A message sent without a request. Its data follows, unless it is inline.
    request,  ///< Rendezvous: announces a message. Its data is sent after `ready`.
    ready,    ///< The receive for message `id` is posted: send its data.
    data,     ///< `bytes` of the data of message `id` follow.
    credit,   ///< The receiver has taken `bytes` of eager data.
  };
  static constexpr std::size_t most_inline = 16;

  Kind kind = Kind::eager;
  std::uint32_t tag = 0;
  std::uint64_t context = 0;  ///< The id of the communicator.
  std::uint64_t id = 0;       ///< The id of the message, unique at its sender.
  std::uint64_t bytes = 0;
  std::array<std::byte, most_inline> inlined{};
};
static_assert(sizeof(Packet) == 48);

}  // namespace tutti
