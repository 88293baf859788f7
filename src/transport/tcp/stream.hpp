#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/tcp/read_block.hpp"

namespace tutti {

/// What is told when something has come for a stream, by whichever thread has read it.
class StreamListener {
 public:
  virtual ~StreamListener() = default;
  virtual void notify() = 0;
};

/// One communicator's share of a connection, both ways. Only the connection looks inside.
class Stream {
 public:
  /// How much may be on its way that the receiver has not consumed: what a communicator takes of
  /// its peer's memory at most while nobody there receives.
  static constexpr std::uint64_t window = std::uint64_t{4} << 20;

  explicit Stream(std::uint64_t context) : context_(context) {}

  /// How many bytes were ever sent, and how many of them are no longer needed where they were.
  [[nodiscard]] std::uint64_t sent() const { return sent_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t released() const { return released_.load(std::memory_order_acquire); }

 private:
  friend class Connection;

  /// Data that was read and not yet consumed, in a block that it keeps alive.
  struct Segment {
    ReadBlock block;
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::uint32_t call = 0;
  };

  std::uint64_t context_;

  // Of what comes, with the connection's mutex for reading held:
  StreamListener* listener_ = nullptr;  // Null until its port is opened, and once it is closed.
  std::vector<Segment> segments_;
  std::size_t first_ = 0;            // Of segments_, those before are consumed.
  std::span<std::byte> expected_{};  // Where the next bytes are to go,
  std::size_t landed_ = 0;           // how many have,
  std::uint32_t landed_call_ = 0;    // and of which call they are.
  std::uint64_t ungranted_ = 0;      // Consumed, and the sender has not been told.

  // Of the stream's own thread: consumed, and still to be dropped from the first segment.
  std::size_t unapplied_ = 0;

  // Of what goes:
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> released_{0};
  std::atomic<std::uint64_t> granted_{window};  // So many bytes may ever be sent.
};

}  // namespace tutti
