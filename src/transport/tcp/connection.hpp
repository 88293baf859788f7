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

/// Frames each way between this rank and a peer who has proved to be one, for all communicators
/// that both are in: each has a stream, and none waits for what another does not take. Whoever
/// waits for data of its stream reads what comes, and puts aside what is for others, at most a
/// window's worth each. Never blocks.
///
/// What comes is read either into blocks, to be looked at where it is, or straight into the
/// caller's memory. What goes is written from the caller's memory; what the system does not take at
/// once stays there until flush() has got rid of it.
///
/// Errors say what is wrong with the peer, without naming it: "is no longer connected (...)".
/// Sending throws peer_lost when the connection has ended; reading does when all that came before
/// the end was consumed. Thread-safe; a stream is for one thread at a time.
class Connection {
 public:
  explicit Connection(Channel channel);

  /// The stream of a communicator, which is told when something comes.
  [[nodiscard]] std::shared_ptr<Stream> open(std::uint64_t context, StreamListener& listener);
  /// Nothing more is sent or received, and what still comes is thrown away. What is half sent goes
  /// on from a copy.
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

  /// What has come for a stream: some of it, but no torn 64 bytes unless the frame ends with them.
  /// Throws mismatch if it is of another call.
  [[nodiscard]] std::span<const std::byte> buffered(Stream& stream, std::uint32_t call);
  struct Arrival {
    std::span<const std::byte> data{};
    bool has_tried = false;  ///< Nothing was there before, so the socket was read once,
    bool has_read = false;   ///< and something came, for whatever stream.
  };
  /// The same as buffered(). Reads once, if `reads` and nothing has come before.
  [[nodiscard]] Arrival arrived(Stream& stream, std::uint32_t call, bool reads);
  void consume(Stream& stream, std::size_t bytes);
  /// Reads once, for whatever streams. False if nothing has come.
  [[nodiscard]] bool pump(const Stream& stream);
  /// Moves what has come to `to`, as far as it fits; the same rules as for buffered(). None if
  /// nothing has come.
  [[nodiscard]] std::size_t receive(Stream& stream, std::span<std::byte> to, std::uint32_t call);
  /// See Port::expect().
  void expect(Stream& stream, std::span<std::byte> to);

  [[nodiscard]] int fd() const { return channel_.fd(); }
  /// Whether a read or a write has found that the connection has ended.
  [[nodiscard]] bool has_ended() const {
    return has_ended_.load(std::memory_order_acquire) || writer_.has_ended();
  }
  /// The same, and asks the system if nobody has.
  [[nodiscard]] bool is_hung_up() const;
  /// Whether something has come for a communicator that has not consumed it. Of a connection that
  /// has hung up, what the system still holds is looked at too.
  [[nodiscard]] bool holds_data_for(std::uint64_t context);

  // At the end:

  /// Throws away what comes. From then on nothing can be received.
  void discard();
  /// Says that no more will come from here; what is pending is forgotten.
  void finish() { writer_.finish(); }
  /// Whether the system has sent all that was written. (To wait until the other end has confirmed
  /// it would take 40 ms more, for ends put off confirming.)
  [[nodiscard]] bool is_under_way() const;

 private:
  using Lock = std::lock_guard<FastMutex>;

  // With reading_ held:
  [[nodiscard]] Stream* find(std::uint64_t context);
  [[nodiscard]] std::span<const std::byte> first_segment(Stream& stream, std::uint32_t call);
  [[nodiscard]] bool read_once(const Stream& stream);
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

  std::string read_end_;  // Why nothing more comes.
  std::unordered_map<std::uint64_t, std::shared_ptr<Stream>> streams_;
  std::deque<std::uint64_t> closed_;  // The contexts closed last.
  ReadBlock block_;
  std::size_t begin_ = 0;  // What was read and not yet parsed stands between these in the block,
  std::size_t end_ = 0;    // after
  std::size_t in_header_ = 0;                          // so many bytes in header_.
  std::array<std::byte, FrameHeader::size> header_{};  // Of the next frame.
  Stream* recent_ = nullptr;                           // Of streams_, the one found last.
  Stream* frame_of_ = nullptr;                         // Null: nobody wants the open frame.
  std::uint32_t frame_call_ = 0;
  std::size_t frame_left_ = 0;  // Of the open frame; 0 if none is open.
  std::size_t frame_done_ = 0;
  std::size_t frame_padding_ = 0;  // After it.
  std::size_t skip_ = 0;           // Padding of the last frame that is still to come.
};

}  // namespace tutti
