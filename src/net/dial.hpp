#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tutti/rank.hpp>

#include "core/clock.hpp"
#include "core/descriptor_shortage.hpp"
#include "net/contact.hpp"
#include "net/handshake.hpp"
#include "net/watch.hpp"

namespace tutti {

/// Connects to a rank: tries all its addresses in turn, with exponential back-off between rounds,
/// until a peer proves in a handshake that it is that rank.
class Dial {
 public:
  /// All references must outlive the dial.
  Dial(Rank peer, const Contact& contact, Rank self, const std::string& group, const Secret& secret,
       Watch& watch);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  /// Makes progress without blocking. Returns the connection once the handshake is done.
  [[nodiscard]] std::optional<Channel> advance(Clock::time_point now);
  /// When to call advance() even without an event.
  [[nodiscard]] Clock::time_point due() const { return due_; }
  /// True if retrying cannot help: every address has a different secret or TLS setting.
  [[nodiscard]] bool is_hopeless() const { return hopeless_since_.has_value(); }
  /// When the dial became hopeless.
  [[nodiscard]] std::optional<Clock::time_point> hopeless_since() const { return hopeless_since_; }
  /// True if in the last round every address refused the connection: no process listens there.
  [[nodiscard]] bool is_refused() const;
  /// True if the TCP connection is open but the peer process has not finished the handshake: it may
  /// be stopped or busy.
  [[nodiscard]] bool is_kept_waiting() const { return handshake_.has_value(); }
  /// Shortage of descriptors for connecting.
  [[nodiscard]] const DescriptorShortage& shortage() const { return shortage_; }

  /// All addresses with their last failure: "10.0.0.1:4000 (Connection refused), ...".
  [[nodiscard]] std::string attempts() const;

 private:
  void begin(Clock::time_point now);
  struct Failure {
    std::string why;
    bool is_final = false;    ///< Retrying cannot help. Later failures do not replace it.
    bool is_refused = false;  ///< No process listens at the address.
  };
  void fail(const Failure& failure, Clock::time_point now);
  void fail(int error, Clock::time_point now);
  [[nodiscard]] bool is_connected(Clock::time_point now);

  Rank peer_;
  const Contact& contact_;
  Rank self_;
  const std::string& group_;
  const Secret& secret_;
  Watch& watch_;

  Channel channel_;
  std::optional<Handshake> handshake_;  // Set once the socket is connected.
  std::size_t endpoint_ = 0;            // Index of the current or next attempt.
  std::uint32_t rounds_ = 0;            // Rounds in which every address failed.
  Clock::time_point due_{};
  std::vector<Failure> failures_;  // The last one of each endpoint.
  std::optional<Clock::time_point> hopeless_since_;
  DescriptorShortage shortage_;
};

}  // namespace tutti
