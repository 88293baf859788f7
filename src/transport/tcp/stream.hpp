#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/tcp/read_block.hpp"

namespace tutti {

/// Notified when data or credit has arrived for a stream or its connection has ended, by the thread
/// that read it.
class StreamListener {
 public:
  virtual ~StreamListener() = default;
  virtual void notify() = 0;
};

/// One communicator's stream over a shared connection, both ways. Only the connection accesses its
/// state.
class Stream {
 public:
  /// The flow control window: the most bytes in flight that the receiver has not consumed. It
  /// bounds the memory that a communicator takes on a peer that does not receive.
  static constexpr std::uint64_t window = std::uint64_t{4} << 20;

  explicit Stream(std::uint64_t context) : context_(context) {}

  /// Total bytes sent, and how many of them are no longer read from the sender's memory.
  [[nodiscard]] std::uint64_t sent() const { return sent_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t released() const { return released_.load(std::memory_order_acquire); }

 private:
  friend class Connection;
  friend class FrameWriter;

  /// Data that was read and not yet consumed. Shares ownership of its block.
  struct Segment {
    ReadBlock block;
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::uint32_t call = 0;
  };

  std::uint64_t context_;

  // The receiving side, guarded by the connection's read mutex:
  StreamListener* listener_ = nullptr;  // Null before its port is opened and after it is closed.
  std::vector<Segment> segments_;
  std::size_t first_ = 0;        // The first of segments_ that is not consumed.
  std::uint64_t ungranted_ = 0;  // Bytes consumed but not yet granted to the sender.

  // Used by the stream's own thread alone: bytes consumed and not yet dropped from the first
  // segment.
  std::size_t unapplied_ = 0;

  // The sending side:
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> released_{0};
  std::atomic<std::uint64_t> granted_{window};  // Credit: the limit of sent_.
};

}  // namespace tutti
