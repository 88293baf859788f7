#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/descriptor_shortage.hpp"
#include "net/handshake.hpp"
#include "rendezvous/framed_channel.hpp"
#include "rendezvous/group.hpp"

namespace tutti {

/// Connects to rank 0: tries all addresses that it may have, again and again, until a peer answers
/// that knows the secret.
class Dialer {
 public:
  using Finder = std::function<std::vector<Endpoint>()>;

  Dialer(const Group& group, Finder find_root);

  /// Returns a connection to rank 0, over which this rank has still to send `join`. Throws
  /// timed_out; mismatch if the secrets differ or only one end encrypts; and peer_lost if the
  /// inquiry gives a reason.
  [[nodiscard]] FramedChannel dial(Clock::time_point deadline, const Inquiry& inquiry = {});
  /// The last connection failed for this reason: dial() may be called again, and its error will
  /// quote it.
  void note_failure(const std::string& why);

 private:
  /// One address, and the outcome there.
  struct Attempt {
    Endpoint at{};
    Channel channel{};
    std::optional<Handshake> handshake{};
    bool wants_to_write = false;
    Clock::time_point next{};
    Clock::duration pause{};
    std::string failure = "not tried yet";
    int final_refusals = 0;
  };

  void find();
  void begin(Attempt& attempt);
  /// True if the handshake is complete.
  [[nodiscard]] bool go_on(Attempt& attempt);
  void give_up(Attempt& attempt, const std::string& why);
  void wait(Clock::time_point deadline) const;
  [[noreturn]] void fail_late() const;

  const Group& group_;
  Finder find_root_;
  std::vector<Attempt> attempts_;
  Clock::time_point begun_;
  Clock::time_point next_find_{};
  std::string not_found_;
  std::size_t chosen_ = 0;
  DescriptorShortage shortage_;
};

}  // namespace tutti
