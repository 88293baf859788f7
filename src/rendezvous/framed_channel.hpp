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

/// What travels in a rendezvous: a letter that says what it is, and its body.
struct Frame {
  enum class Kind : char {
    join = 'j',          ///< To rank 0: of all connections that I tried, take this one.
    waiting = 'w',       ///< From rank 0: you are in, and these ranks are still missing.
    contribution = 'c',  ///< To rank 0: my card. From it: one card for each rank, in order.
    error = 'x',     ///< From rank 0: it is over, and why: a digit for the code, and the message.
    gives_up = 'g',  ///< To rank 0: I wait no longer.
    control = 'l',   ///< Between members of a lifeline, which understand it.
  };
  static constexpr std::size_t most_bytes = std::size_t{16} << 20;

  Kind kind = Kind::join;
  std::string body{};
};

/// Appends a frame as it is on the wire. Requires: body.size() ≤ most_bytes.
void append(std::string& wire, Frame::Kind kind, const std::string& body);

/// Frames to and from one peer. Never blocks.
class FramedChannel {
 public:
  explicit FramedChannel(Channel channel) : channel_(std::move(channel)) {}

  [[nodiscard]] Channel& channel() { return channel_; }
  [[nodiscard]] const Socket& socket() const { return channel_.socket(); }

  void send(Frame::Kind kind, const std::string& body);
  /// The same bytes may go to many.
  void send(std::shared_ptr<const std::string> wire) { out_.push_back(std::move(wire)); }
  [[nodiscard]] bool has_unsent() const { return !out_.empty(); }
  /// Nothing more will be sent.
  void hang_up();

  /// Sends and receives as far as it can without blocking, but no more than one frame ahead.
  void advance();

  /// The next frame, once it is here in full.
  [[nodiscard]] std::optional<Frame> next();

  /// Why nothing more can come; empty as long as it can. A frame may still be at hand.
  [[nodiscard]] const std::string& lost() const { return lost_; }

 private:
  static constexpr std::size_t header_bytes = 5;

  void write();
  void read();
  /// How many bytes make the frame whole, or at first its header.
  [[nodiscard]] std::size_t wanted() const;

  Channel channel_;
  std::deque<std::shared_ptr<const std::string>> out_;
  std::size_t written_ = 0;  // Of the first of out_.
  bool deaf_ = false;        // The peer takes no more. What it said before can still be read.
  std::string in_;
  std::string lost_;
};

}  // namespace tutti
