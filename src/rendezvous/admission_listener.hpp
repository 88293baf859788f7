#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include <tutti/rank.hpp>

#include "core/clock.hpp"
#include "net/handshake.hpp"
#include "net/rejection_log.hpp"
#include "net/socket.hpp"
#include "rendezvous/framed_channel.hpp"

namespace tutti {

/// Where those wait who want to join a group that is at work. They prove that they know the secret,
/// and get a ticket when the group lets them in.
class AdmissionListener {
 public:
  /// Throws invalid_argument if nobody can listen there, or if without a secret others than this
  /// host could knock.
  AdmissionListener(const Endpoint& at, Secret secret);

  [[nodiscard]] const Endpoint& endpoint() const { return at_; }

  /// How many wait. Returns at `until`, or when there are `most`; a moment later if somebody has
  /// just knocked.
  [[nodiscard]] std::size_t wait_for(std::size_t most, Clock::time_point until);
  /// One to each who has waited longest. Not more than wait.
  void hand_out(const std::vector<std::string>& tickets);

 private:
  struct Newcomer {
    std::optional<FramedChannel> connection{};
    std::optional<Handshake> handshake{};
    std::string from{};
    Clock::time_point since{};
    bool is_known = false;  // It has proved that it knows the secret.
  };

  void let_in();
  /// False if it is done with.
  [[nodiscard]] bool attend(Newcomer& newcomer);
  [[nodiscard]] std::size_t known() const;
  [[nodiscard]] bool is_in_talks(Clock::time_point now) const;
  void make_room();
  void sleep(Clock::time_point until, bool is_open);

  Socket listener_;
  Endpoint at_;
  Secret secret_;
  std::list<Newcomer> newcomers_;  // The oldest first.
  RejectionLog log_{Rank{0}};      // Who keeps the door is rank 0.
};

/// Knocks at the door until somebody opens, and waits for the ticket. Throws timed_out, or mismatch
/// if the secrets differ.
[[nodiscard]] std::string request_admission(const Endpoint& at, const Secret& secret,
                                            Clock::time_point deadline);

}  // namespace tutti
