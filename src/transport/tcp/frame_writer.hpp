#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/fast_mutex.hpp"
#include "net/channel.hpp"
#include "transport/tcp/frame.hpp"
#include "transport/tcp/stream.hpp"

namespace tutti {

/// The sending half of a connection. Data is written from the caller's memory. What the system does
/// not take at once stays there until flush() has written it. Thread-safe.
class FrameWriter {
 public:
  struct Taken {
    std::size_t bytes = 0;
    bool is_pending = false;  ///< Something, of any stream, is still to be written.
  };

  /// The channel must outlive this. `mutex` guards the writing side of the channel.
  FrameWriter(Channel& channel, FastMutex& mutex) : channel_(channel), mutex_(mutex) {}

  /// Takes the first bytes of `data`, all of it or a multiple of 64, and returns how many. Zero if
  /// there is no room, or the stream has no credit. The memory must not change until
  /// Stream::released() covers it. Throws peer_lost once the connection has ended.
  [[nodiscard]] Taken send(Stream& stream, std::span<const std::byte> data, std::uint32_t call);
  /// Writes pending data as far as the system takes it. True if nothing is left.
  bool flush();
  /// Copies what is pending of a stream, so that its memory is released.
  void copy_pending(Stream& stream);
  /// Gives the sender at the other end credit for more bytes.
  void send_grant(const Stream& stream, std::uint64_t bytes);
  /// Drops pending data, and closes the sending side of the channel.
  void finish();

  [[nodiscard]] bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  /// How many bytes the system has taken in all.
  [[nodiscard]] std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }

 private:
  using Lock = std::lock_guard<FastMutex>;

  // With the mutex held:
  bool write_pending();
  [[nodiscard]] bool is_pending() const;
  void drop_pending();

  Channel& channel_;
  FastMutex& mutex_;
  std::atomic<bool> has_ended_{false};
  std::atomic<std::uint64_t> written_{0};
  std::string end_;                  // Why nothing more can be sent; empty if it can.
  std::vector<std::byte> control_;   // Grants to be written after the pending frame.
  std::size_t control_written_ = 0;  // How many bytes of them were written.
  std::array<std::byte, FrameHeader::size> header_{};
  std::size_t header_left_ = 0;  // Bytes of header_ still to be written.
  std::span<const std::byte> pending_;
  std::size_t padding_left_ = 0;
  Stream* pending_of_ = nullptr;
  std::vector<std::byte> copy_;  // Memory of pending_ once it was copied.
};

}  // namespace tutti
