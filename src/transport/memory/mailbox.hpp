#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti {

inline constexpr std::size_t cache_line = 64;

/// A slip of paper from one rank to another, one cache line: short data itself, or where it stands.
struct alignas(cache_line) Note {
  enum class Kind : std::uint16_t {
    enclosed,  ///< The data is in the note.
    staged,    ///< In the sender's outbox: at `where` in the arena.
    direct,    ///< In the sender's own memory, which the receiver sees at `where`.
  };
  static constexpr std::size_t most_enclosed = 48;

  /// Which note of the stream this is, from 1 on, written last: with it the receiver sees the rest.
  std::atomic<std::uint32_t> turn{0};
  std::uint32_t bytes = 0;
  std::uint32_t call = 0;  ///< The tag of the call that the data belongs to.
  Kind kind = Kind::enclosed;
  union {
    std::uint64_t where;
    std::array<std::byte, most_enclosed> data;
  };

  Note() : where(0) {}
};
static_assert(sizeof(Note) == cache_line);

/// The notes from one rank to another, in memory that both see. The receiver answers with how many
/// it is done with; only the sender reads that, when it runs short.
struct Mailbox {
  static constexpr std::uint32_t capacity = 16;

  std::array<Note, capacity> notes;
  alignas(cache_line) std::atomic<std::uint32_t> done{0};

  [[nodiscard]] Note& note(std::uint32_t turn) { return notes[turn % capacity]; }
};

/// Turns wrap around after 2³², long after the earlier ones are forgotten.
[[nodiscard]] inline bool reached(std::uint32_t done, std::uint32_t turn) {
  return static_cast<std::int32_t>(done - turn) >= 0;
}

/// By which a rank that sleeps is woken, and on which core it was last seen.
struct alignas(cache_line) Bell {
  /// How a rank sleeps, and so how it is woken.
  enum : std::uint32_t {
    awake = 0,
    on_bell = 1,         ///< By a futex on `rung`.
    on_descriptors = 2,  ///< By its doorbell, for it watches sockets as well.
  };
  std::atomic<std::uint32_t> asleep{awake};
  std::atomic<std::uint32_t> rung{0};
  std::atomic<std::int32_t> core{0};
};

/// What a rank has finished with. On a line that is hardly ever written.
struct alignas(cache_line) Retirement {
  /// It has given up: it reads no more of what others lend it, and what it has lent to others is no
  /// longer what it was.
  std::atomic<std::uint32_t> stood_down{0};
  /// It has closed its port: it neither reads nor writes any mailbox of the communicator.
  std::atomic<std::uint32_t> has_left{0};
  /// And it has taken back its own mailboxes, so that it looks at nothing here any more.
  std::atomic<std::uint32_t> has_cleared{0};
};

}  // namespace tutti
