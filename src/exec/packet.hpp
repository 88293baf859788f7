#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// What messengers tell each other. It fills a note of shared memory exactly, so that a short
/// message takes one cache line on its way.
struct Packet {
  enum class Kind : std::uint32_t {
    eager,  ///< A message, whether it is expected or not. Its data follows, unless it is enclosed.
    request,  ///< A message is here for you: say when you want it.
    ready,    ///< Send the data of your message `id`.
    data,     ///< `bytes` of the data of message `id` follow.
    credit,   ///< So many `bytes` of what was sent unasked have been taken.
  };
  static constexpr std::size_t most_enclosed = 16;

  Kind kind = Kind::eager;
  std::uint32_t tag = 0;
  std::uint64_t context = 0;  ///< Which communicator.
  std::uint64_t id = 0;       ///< Which message of the sender's.
  std::uint64_t bytes = 0;
  std::array<std::byte, most_enclosed> enclosed{};
};
static_assert(sizeof(Packet) == 48);

}  // namespace tutti
