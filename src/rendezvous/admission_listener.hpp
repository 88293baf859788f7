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

/// Listens for processes that want to join a running group (Communicator::grow). A newcomer proves
/// that it knows the secret, waits, and gets a ticket when the group admits it. The ticket is a
/// text that says where the larger group meets.
///
/// A newcomer may die or stop at any time. So it is asked whether it is there before the group
/// waits for it, and gives signs of life until it is in the group: see Invitation.
class AdmissionListener {
 public:
  /// Throws invalid_argument if the address cannot be used, or if there is no secret and other
  /// hosts can reach the address.
  AdmissionListener(const Endpoint& at, Secret secret);

  [[nodiscard]] const Endpoint& endpoint() const { return at_; }

  /// Returns the number of authenticated newcomers that wait, at `until` or as soon as there are
  /// `most`; up to 250 ms later if a handshake has just begun.
  [[nodiscard]] std::size_t wait_for(std::size_t most, Clock::time_point until);
  /// Asks the `most` newcomers that have waited longest whether they are there, and drops those
  /// that do not answer within 500 ms. Returns the number of the others.
  [[nodiscard]] std::size_t confirm(std::size_t most);
  /// Sends one ticket to each of the newcomers that have waited longest. Tickets beyond the number
  /// of newcomers are dropped.
  void admit(const std::vector<std::string>& tickets);
  /// Why one of the newcomers admitted last will not come; empty as far as is known. Call it often.
  [[nodiscard]] std::string trouble_of_admitted();

 private:
  struct Newcomer {
    std::optional<FramedChannel> connection{};
    std::optional<Handshake> handshake{};
    std::string from{};
    Clock::time_point since{};
    bool is_authenticated = false;
    bool is_asked = false;         // Whether it is there, and has not answered yet.
    Clock::time_point heard_at{};  // Once it is admitted: when it last gave a sign of life.
  };

  void accept_all();
  /// False if the newcomer is to be forgotten.
  [[nodiscard]] bool advance(Newcomer& newcomer);
  [[nodiscard]] std::size_t authenticated() const;
  [[nodiscard]] bool has_young_handshake(Clock::time_point now) const;
  void evict();
  void sleep(Clock::time_point until, bool accepts);

  Socket listener_;
  Endpoint at_;
  Secret secret_;
  std::list<Newcomer> newcomers_;  // The oldest first.
  std::list<Newcomer> admitted_;   // The last ones.
  RejectionLog log_{Rank{0}};      // Rank 0 listens.
};

}  // namespace tutti
