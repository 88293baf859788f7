#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tutti/rank.hpp>

namespace tutti {

/// In place of the rank or tag of a receive: takes the first message that arrives.
inline constexpr std::uint32_t any_rank = ~std::uint32_t{0};
inline constexpr std::uint32_t any_tag = ~std::uint32_t{0};

// A message without a receive delays no message that has one. Its receiver keeps at most 256 KiB of
// such messages for each sender and communicator; further ones, and all of more than 8 KiB, keep
// their data at the sender, and their sends wait. Their number is not bounded: each takes about 700
// bytes at the sender and 320 at the receiver, and a receive without a message 750.

/// The sender, tag and length of a message.
struct Envelope {
  Rank rank = 0;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

/// Options of a point-to-point message.
struct MessageOptions {
  /// A receive takes only messages with the same tag, or all with any_tag. A send may use any other
  /// number than any_tag.
  std::uint32_t tag = 0;
  /// How long to wait for the peer. Zero: the timeout of the communicator.
  std::chrono::milliseconds timeout{0};
  /// The place in the program, for error messages and the flight recorder: "step 12".
  std::string_view site{};
  /// A receive also accepts a message shorter than its buffer; the Envelope gives the length.
  /// Otherwise the message must have exactly the length of the buffer.
  bool may_be_shorter = false;
};

/// Raw memory to send to a rank.
struct Outgoing {
  const void* data = nullptr;
  std::size_t bytes = 0;
  Rank to = 0;
  std::uint32_t tag = 0;
};

/// Raw memory for a message from a rank, or from any_rank.
struct Incoming {
  void* data = nullptr;
  std::size_t bytes = 0;
  Rank from = 0;
  std::uint32_t tag = 0;
  bool may_be_shorter = false;
};

}  // namespace tutti
