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

/// Tries to reach a rank: all its addresses in turn, again and again, with longer and longer rests
/// between, until somebody proves to be that rank.
class Dial {
 public:
  /// All must outlive this.
  Dial(Rank peer, const Contact& contact, Rank self, const std::string& group, const Secret& secret,
       Watch& watch);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  /// Goes on as far as it can without blocking. The connection, once there is one.
  [[nodiscard]] std::optional<Channel> advance(Clock::time_point now);
  /// When to go on even if nothing has happened.
  [[nodiscard]] Clock::time_point due() const { return due_; }
  /// Whether to go on is of no use: who answers, at all of the addresses, knows another secret or
  /// does not encrypt; or this process has no descriptor left.
  [[nodiscard]] bool is_hopeless() const;
  /// Whether the other's system has taken the call, but its process says nothing: it may be stopped
  /// or busy.
  [[nodiscard]] bool is_kept_waiting() const { return handshake_.has_value(); }
  /// Of descriptors to connect with.
  [[nodiscard]] const DescriptorShortage& shortage() const { return shortage_; }

  /// What was tried and why it failed: "10.0.0.1:4000 (Connection refused), ...".
  [[nodiscard]] std::string attempts() const;

 private:
  void begin(Clock::time_point now);
  void fail(const std::string& why, Clock::time_point now, bool is_final = false);
  [[nodiscard]] bool is_connected(Clock::time_point now);

  Rank peer_;
  const Contact& contact_;
  Rank self_;
  const std::string& group_;
  const Secret& secret_;
  Watch& watch_;

  Channel channel_;
  std::optional<Handshake> handshake_;  // Once the socket is connected.
  std::size_t endpoint_ = 0;            // That is tried now, or next.
  std::uint32_t rounds_ = 0;            // How often all were tried in vain.
  Clock::time_point due_{};
  /// Why an address was last of no use, and whether it will never be.
  struct Failure {
    std::string why;
    bool is_final = false;
  };
  std::vector<Failure> failures_;  // By endpoint.
  DescriptorShortage shortage_;
};

}  // namespace tutti
