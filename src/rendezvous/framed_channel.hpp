#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "net/channel.hpp"

namespace tutti {

/// A message of the rendezvous or of a lifeline: its kind and its body.
struct Frame {
  /// The character is on the wire.
  enum class Kind : char {
    join = 'j',          ///< To rank 0: of all connections that this rank tried, use this one.
    waiting = 'w',       ///< From rank 0: you have joined, and these ranks are still missing.
    contribution = 'c',  ///< To rank 0: one rank's. From it: one for each rank, in order.
    error = 'x',         ///< From rank 0: the rendezvous failed. A digit for the code, a message.
    gives_up = 'g',      ///< To rank 0: this rank has reached its deadline.
    control = 'l',       ///< Between members of a lifeline: a ControlMessage.
    departure = 'd',     ///< Between members of a lifeline: the sender ends in order.
    loss = 'o',          ///< Between members of a lifeline: the number of a lost member, and why.
  };
  static constexpr std::size_t most_bytes = std::size_t{16} << 20;

  Kind kind = Kind::join;
  std::string body{};
};

/// Appends a frame in wire format. Requires: body.size() ≤ most_bytes.
void append(std::string& wire, Frame::Kind kind, const std::string& body);

/// Sends and receives frames over one connection. Never blocks.
class FramedChannel {
 public:
  explicit FramedChannel(Channel channel) : channel_(std::move(channel)) {}

  [[nodiscard]] Channel& channel() { return channel_; }
  [[nodiscard]] const Socket& socket() const { return channel_.socket(); }

  void send(Frame::Kind kind, const std::string& body);
  /// For frames that go to many peers: `wire` is not copied.
  void send(std::shared_ptr<const std::string> wire) { out_.push_back(std::move(wire)); }
  [[nodiscard]] bool has_unsent() const { return !out_.empty(); }
  /// Closes the sending side.
  void hang_up();

  /// Sends as much as it can without blocking.
  void flush() { write(); }
  /// Sends as much as it can without blocking, and receives until there is a frame. What arrives
  /// with the frame is kept, so call next() until it returns none before polling the socket.
  void advance();

  /// The next frame, once it has arrived in full.
  [[nodiscard]] std::optional<Frame> next();

  /// Why nothing more can be received; empty while it can. next() may still have a frame.
  [[nodiscard]] const std::string& lost() const { return lost_; }

 private:
  static constexpr std::size_t header_bytes = 5;

  void write();
  void read();
  /// True if the next frame has arrived in full.
  [[nodiscard]] bool has_frame() const;
  [[nodiscard]] bool is_sound() const;
  void refuse();

  Channel channel_;
  std::deque<std::shared_ptr<const std::string>> out_;
  std::size_t written_ = 0;  // Bytes of out_.front().

  bool cannot_write_ = false;  // The peer has closed. What it sent before can still be read.
  std::string in_;             // The next frame, and what was received with it.
  std::size_t taken_ = 0;      // Bytes of in_ that next() has returned.
  std::string lost_;
};

}  // namespace tutti
