#pragma once

#include <sys/uio.h>

#include <array>
#include <memory>
#include <span>
#include <string>

#include "transport/tcp/channel.hpp"
#include "transport/tcp/frame.hpp"

namespace tutti {

/// A stream of frames each way between this rank and a peer who has proved to be one. Never blocks.
///
/// What comes is read either into a buffer, to be looked at where it is, or straight into the
/// caller's memory. What goes is written from the caller's memory; what the system does not take at
/// once stays there until flush() has got rid of it.
///
/// Sending and flushing throw peer_lost when the connection has ended; reading does when all that
/// came before the end was consumed.
class Connection {
 public:
  /// `peer` is how messages name it: "rank 3 on somehost".
  Connection(Channel channel, std::string peer);

  // What goes:

  /// Takes all of `data`, which must stay as it is until released() says so. Requires: nothing
  /// pending, and no more bytes than a frame may have.
  void send(std::span<const std::byte> data, std::uint32_t call);
  /// Writes what is pending, as far as the system takes it.
  void flush();
  [[nodiscard]] bool is_pending() const { return header_left_ + pending_.size() > 0; }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t released() const { return sent_ - pending_.size(); }

  // What comes:

  /// What is in the buffer of the frame that comes next: some of it, but no torn 64 bytes unless
  /// the frame ends with them. Throws mismatch if the frame is of another call.
  [[nodiscard]] std::span<const std::byte> buffered(std::uint32_t call);
  void consume(std::size_t bytes);
  /// Reads into the buffer. Requires: buffered() is empty. False if nothing has come.
  [[nodiscard]] bool fill();
  /// Moves what has come to `to`, as far as it fits; the same rules as for buffered(). None if
  /// nothing has come.
  [[nodiscard]] std::size_t receive(std::span<std::byte> to, std::uint32_t call);

  [[nodiscard]] int fd() const { return channel_.fd(); }

  /// Forgets what is pending: its memory is no longer there.
  void forget_pending();
  /// Throws away what comes. From then on nothing can be received.
  void discard() { channel_.discard(); }
  /// Says that no more will come from here; what is pending is forgotten.
  void finish();
  /// Whether the system has sent all that was written. (To wait until the other end has confirmed
  /// it would take 40 ms more, for ends put off confirming.)
  [[nodiscard]] bool is_under_way() const;

 private:
  [[nodiscard]] bool open_frame(std::uint32_t call);
  void take_header();
  void align();
  [[nodiscard]] std::size_t whole(std::size_t bytes, std::size_t most) const;
  void pass(std::size_t bytes);
  void keep(std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t receive_first(std::span<std::byte> to, std::uint32_t call);
  [[nodiscard]] std::size_t receive_more(std::span<std::byte> to);
  [[nodiscard]] std::size_t read(std::span<iovec> parts);
  void require(const std::string& end) const;

  Channel channel_;
  std::string peer_;
  std::string write_end_;  // Why nothing more goes;
  std::string read_end_;   // why nothing more comes. Empty if it does.

  std::array<std::byte, FrameHeader::size> out_header_{};
  std::size_t header_left_ = 0;  // Of out_header_, to be written.
  std::span<const std::byte> pending_;
  std::uint64_t sent_ = 0;

  std::unique_ptr<std::byte[]> memory_;
  std::byte* buffer_;                                  // In memory_, on a cache line.
  std::size_t begin_ = 0;                              // What was read and not yet consumed
  std::size_t end_of_ = 0;                             // stands between these in the buffer, after
  std::size_t in_header_ = 0;                          // so many bytes in header_.
  std::array<std::byte, FrameHeader::size> header_{};  // Of the next frame.
  std::size_t frame_left_ = 0;                         // Of the open frame; 0 if none is open.
  std::size_t frame_done_ = 0;
};

}  // namespace tutti
