#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti {

inline constexpr std::size_t cache_line = 64;

/// A descriptor of data from one rank to another, one cache line. It holds short data inline, or
/// the location of longer data.
struct alignas(cache_line) Descriptor {
  enum class Kind : std::uint16_t {
    inlined,      ///< Inline in the descriptor.
    staged,       ///< In the sender's outbox, at offset `where` of the arena.
    zero_copy,    ///< In the sender's own memory. SharedView::resolve() finds it by `where`.
    single_copy,  ///< In the sender's private memory, at its address `where`: see CrossMemory.
    put,          ///< Already in the receiver's memory: the sender has written it to a window.
  };
  /// A window that the sender of the descriptor announces to its receiver. See Port::Window.
  struct Window {
    std::uint64_t where = 0;
    std::uint64_t at = 0;
    std::uint64_t after = 0;  ///< may_write_at_once, if there is no condition.
    std::uint64_t bytes = 0;  ///< 0: the descriptor announces no window.
  };
  static constexpr std::size_t most_inline = 48;

  /// Sequence number of the descriptor in its stream, from 1. Written last, with release order: it
  /// publishes the other fields.
  std::atomic<std::uint32_t> turn{0};
  std::uint32_t bytes = 0;
  std::uint32_t call = 0;  ///< Tag of the call that the data belongs to.
  Kind kind = Kind::inlined;
  struct Place {
    std::uint64_t where = 0;
    Window window{};
    /// The last descriptor of the opposite stream that the sender of this one has finished. It
    /// saves the receiver a look at DescriptorRing::done.
    std::uint32_t finished = 0;

    void write(std::uint64_t where_now, const Window& announced, std::uint32_t finished_now) {
      set(where, where_now);
      set(window.where, announced.where);
      set(window.at, announced.at);
      set(window.after, announced.after);
      set(window.bytes, announced.bytes);
      set(finished, finished_now);
    }

   private:
    /// Keeps the compiler from copying two fields by one vector. The load of a vector waits until
    /// the separate stores of its halves have left the store buffer, and so for all stores before
    /// them: those to the memory of other ranks take a fifth of a microsecond.
    template <typename Field>
    static void set(Field& field, Field value) {
      __atomic_store_n(&field, value, __ATOMIC_RELAXED);
    }
  };
  union {
    Place place;
    std::array<std::byte, most_inline> data;
  };

  Descriptor() : place{} {}
};
static_assert(sizeof(Descriptor) == cache_line);

inline constexpr std::uint64_t may_write_at_once = ~std::uint64_t{0};

/// A ring of descriptors from one rank to another, in shared memory. The receiver writes how many
/// it has finished. The sender reads that only when it runs out of descriptors.
struct DescriptorRing {
  static constexpr std::uint32_t capacity = 16;

  /// Short data is staged in a slot that belongs to its descriptor, and is free when that is: this
  /// takes less time than a slot of the outbox.
  struct alignas(cache_line) Slot {
    static constexpr std::size_t size = 1024;
    std::array<std::byte, size> bytes;
  };
  using Slots = std::array<Slot, capacity>;

  std::array<Descriptor, capacity> descriptors;
  alignas(cache_line) std::atomic<std::uint32_t> done{0};

  [[nodiscard]] Descriptor& at(std::uint32_t turn) { return descriptors[turn % capacity]; }
};

/// True if `done` is at or past `turn`. Turns wrap around at 2³²; compared turns are close
/// together.
[[nodiscard]] inline bool reached(std::uint32_t done, std::uint32_t turn) {
  return static_cast<std::int32_t>(done - turn) >= 0;
}

/// Wakes a sleeping rank. Also holds the core on which the rank was last seen.
struct alignas(cache_line) Bell {
  /// How a rank sleeps, and so how it is woken.
  enum : std::uint32_t {
    awake = 0,
    on_bell = 1,         ///< Futex on `rung`.
    on_descriptors = 2,  ///< Its doorbell, since it polls sockets as well.
  };
  std::atomic<std::uint32_t> asleep{awake};
  std::atomic<std::uint32_t> rung{0};
  std::atomic<std::int32_t> core{0};
};

/// How far a rank has retired from the communicator. On a cache line of its own, since it is rarely
/// written.
struct alignas(cache_line) Retirement {
  /// It has given up: it no longer accesses other ranks' memory, and its own memory may change.
  std::atomic<std::uint32_t> revoked{0};
  /// It has closed its port: it no longer accesses any ring of the communicator.
  std::atomic<std::uint32_t> has_left{0};
  /// It has freed its own rings: it no longer accesses the header.
  std::atomic<std::uint32_t> has_cleared{0};
};

/// Set while a rank writes to windows of other ranks. On a cache line of its own: it is written in
/// many calls, and read by other ranks only after a failure.
struct alignas(cache_line) Putting {
  std::atomic<std::uint32_t> is_writing{0};
};

}  // namespace tutti
