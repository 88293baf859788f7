#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fast_mutex.hpp"
#include "net/channel.hpp"
#include "transport/tcp/frame.hpp"
#include "transport/tcp/frame_writer.hpp"
#include "transport/tcp/read_block.hpp"
#include "transport/tcp/stream.hpp"

namespace tutti {

/// A TCP connection to an authenticated peer, multiplexed over all communicators of which both are
/// members. Each communicator has a stream with a flow-control window of its own, so none waits for
/// another. A thread that waits for its stream reads the socket for all streams, and queues what
/// belongs to others. Never blocks.
///
/// Data is read either into blocks, where the receiver uses it in place, or straight into the
/// receiver's memory. FrameWriter is the sending half.
///
/// Errors describe the peer without naming it: "is no longer connected (...)". Sending throws
/// peer_lost once the connection has ended; receiving throws it after everything that arrived
/// before was consumed. Thread-safe; a stream is for one thread at a time.
class Connection {
 public:
  explicit Connection(Channel channel);

  /// The stream of a communicator. The listener is told when data arrives for it.
  [[nodiscard]] std::shared_ptr<Stream> open(std::uint64_t context, StreamListener& listener);
  /// Ends sending and receiving. Data that still arrives is dropped; a frame that is partly sent is
  /// completed from a copy.
  void close(Stream& stream);

  // Sending, see FrameWriter:

  [[nodiscard]] FrameWriter::Taken send(Stream& stream, std::span<const std::byte> data,
                                        std::uint32_t call) {
    return writer_.send(stream, data, call);
  }
  bool flush() { return writer_.flush(); }
  void copy_pending(Stream& stream) { writer_.copy_pending(stream); }
  /// Whether the peer must consume something before more can be sent.
  [[nodiscard]] static bool is_exhausted(const Stream& stream) {
    return stream.granted_.load(std::memory_order_acquire) < stream.sent() + 64;
  }

  // Receiving:

  /// The first data that was read for a stream: a multiple of 64 bytes, or up to the end of a
  /// frame. Throws mismatch if it belongs to another call.
  [[nodiscard]] std::span<const std::byte> buffered(Stream& stream, std::uint32_t call);
  struct Arrival {
    std::span<const std::byte> data{};
    bool has_tried = false;  ///< Nothing was queued, so the socket was read.
    bool has_read = false;   ///< That read returned data, of any stream.
  };
  /// Like buffered(), but reads the socket once if `reads` and nothing is queued.
  [[nodiscard]] Arrival arrived(Stream& stream, std::uint32_t call, bool reads);
  void consume(Stream& stream, std::size_t bytes);
  /// Reads the socket once, for all streams. False if nothing has arrived.
  [[nodiscard]] bool pump(const Stream& stream);
  /// Copies or reads data to `to`, by the same rules as buffered(). Returns how many bytes; 0 if
  /// nothing has arrived.
  [[nodiscard]] std::size_t receive(Stream& stream, std::span<std::byte> to, std::uint32_t call);

  [[nodiscard]] int fd() const { return channel_.fd(); }
  /// Whether a read or a write has found that the connection has ended.
  [[nodiscard]] bool has_ended() const {
    return has_ended_.load(std::memory_order_acquire) || writer_.has_ended();
  }
  /// The same, and asks the system too.
  [[nodiscard]] bool is_hung_up() const;
  /// Whether data for a communicator has arrived and was not consumed. If the peer has closed the
  /// connection, reads what the system still holds.
  [[nodiscard]] bool holds_data_for(std::uint64_t context);

  // Closing:

  /// Drops what arrives. Nothing can be received afterwards.
  void discard();
  /// Drops what is pending, and tells the peer that nothing more follows.
  void finish() { writer_.finish(); }
  /// For a connection that has ended here: ends it for the peer too, at once. (The end of the
  /// stream would follow data that the peer may never read.) What has arrived can still be
  /// received.
  void reset();
  /// Whether the connection may be closed: everything that was written is on its way to a socket
  /// that has room for it. The acknowledgement of the last bytes is delayed by 40 ms. So it is
  /// waited for only if so much was written that the receiver may have had no room.
  [[nodiscard]] bool is_under_way() const;

 private:
  using Lock = std::lock_guard<FastMutex>;

  // With reading_ held:
  [[nodiscard]] Stream* find(std::uint64_t context);
  [[nodiscard]] std::span<const std::byte> first_segment(Stream& stream, std::uint32_t call);
  [[nodiscard]] bool read_once(const Stream& stream);
  void read_rest();
  void prepare_block();
  void parse(const Stream* reader);
  [[nodiscard]] bool open_frame(const Stream* reader);
  void add_segment(Stream& stream, std::size_t bytes, const Stream* reader);
  [[nodiscard]] std::size_t whole(std::size_t bytes, std::size_t most) const;
  void pass(std::size_t bytes);
  void stash(std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t take_segment(Stream& stream, std::span<std::byte> to,
                                         std::uint32_t call);
  [[nodiscard]] bool is_between_frames() const {
    return begin_ == end_ && frame_left_ == 0 && skip_ == 0;
  }
  void receive_header(const Stream& stream);
  [[nodiscard]] std::size_t receive_first(Stream& stream, std::span<std::byte> to,
                                          std::uint32_t call);
  [[nodiscard]] std::size_t receive_more(Stream& stream, std::span<std::byte> to,
                                         std::uint32_t call);
  [[nodiscard]] std::size_t read(std::span<iovec> parts);
  static void apply_consumed(Stream& stream);
  static void drop_first(Stream& stream, std::size_t bytes);
  [[nodiscard]] static std::uint64_t due_grant(Stream& stream);
  [[nodiscard]] static bool is_grant_due(const Stream& stream);

  Channel channel_;
  FastMutex reading_;
  FastMutex writing_;
  FrameWriter writer_;
  std::atomic<bool> has_ended_{false};

  std::string read_end_;  // Why nothing more can be received; empty if it can.
  std::unordered_map<std::uint64_t, std::shared_ptr<Stream>> streams_;
  std::deque<std::uint64_t> closed_;  // Contexts of streams that were closed lately.
  ReadBlock block_;
  std::size_t begin_ = 0;                              // In block_, the bytes from here
  std::size_t end_ = 0;                                // to here were read and are not parsed yet.
  std::size_t in_header_ = 0;                          // How many bytes of header_ were read.
  std::array<std::byte, FrameHeader::size> header_{};  // The header of the next frame.
  Stream* recent_ = nullptr;    // The stream of streams_ that was found last.
  Stream* frame_of_ = nullptr;  // Whose the open frame is. Null: it is dropped.
  std::uint32_t frame_call_ = 0;
  std::size_t frame_left_ = 0;  // Bytes of the open frame still to come; 0 if none is open.
  std::size_t frame_done_ = 0;
  std::size_t frame_padding_ = 0;  // Padding after the open frame.
  std::size_t skip_ = 0;           // Bytes of the last frame's padding still to come.
};

}  // namespace tutti
