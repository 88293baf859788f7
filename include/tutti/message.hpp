#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti {

/// Receives from whichever rank sends first, and whatever its tag.
inline constexpr std::uint32_t any_rank = ~std::uint32_t{0};
inline constexpr std::uint32_t any_tag = ~std::uint32_t{0};

/// What is known of a message: who has sent it, by which tag, and how long it is.
struct Envelope {
  std::uint32_t rank = 0;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

/// What a caller may say about a message besides its data.
struct MessageOptions {
  /// A receive takes only messages of its own tag, or of any_tag. Any number but any_tag.
  std::uint32_t tag = 0;
  /// How long to wait for the other; zero is what the communicator was told.
  std::chrono::milliseconds timeout{0};
  /// Where in the program this is, for messages and the flight recorder: "step 12".
  std::string_view site{};
  /// A receive of a message that is shorter than its memory succeeds, and the Envelope tells how
  /// long it was. Otherwise it must be exactly as long.
  bool may_be_shorter = false;
};

/// Raw memory to be sent to a rank.
struct Outgoing {
  const void* data = nullptr;
  std::size_t bytes = 0;
  std::uint32_t to = 0;
  std::uint32_t tag = 0;
};

/// Raw memory for a message from a rank, or from any_rank.
struct Incoming {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::uint32_t from = 0;
  std::uint32_t tag = 0;
  bool may_be_shorter = false;
};

}  // namespace tutti
