#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/exchange.hpp>
#include <tutti/rank.hpp>

#include "core/clock.hpp"
#include "core/descriptor_shortage.hpp"
#include "net/rejection_log.hpp"
#include "net/socket.hpp"
#include "rendezvous/framed_channel.hpp"
#include "rendezvous/group.hpp"

namespace tutti {

/// Rank 0 of a rendezvous over sockets: the others come to it with their cards and take home all.
///
/// Whoever else comes is turned away: who says nothing, garbage or half a hello, does not know the
/// secret, or is no rank of this job. None of them can hold up the group.
class TcpRoot : public Exchange {
 public:
  /// Requires: group.rank is 0. `listener` listens; without a secret it must be out of reach from
  /// other hosts, else throws invalid_argument. The first all_gather() may take until `deadline`,
  /// each later one as long as that was.
  TcpRoot(Group group, Socket listener, Clock::time_point deadline);

  /// Where the others find this.
  [[nodiscard]] Endpoint endpoint() const { return at_; }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& card) override;

 private:
  /// A connection that is not yet a rank's.
  struct Newcomer {
    FramedChannel connection;
    std::string from{};
    std::optional<Handshake> handshake{};
    Clock::time_point deadline{};
    Rank rank{};
    bool leaves = false;  // It has been told to.
    bool wants_to_write = false;
  };
  struct Member {
    std::unique_ptr<FramedChannel> connection;  // Null until it is here.
    std::optional<std::string> card;
    std::vector<std::uint32_t> told;  // Who it was last told is missing.
  };

  void gather(Clock::time_point deadline);
  void hand_out(Clock::time_point deadline);
  [[nodiscard]] std::vector<std::uint32_t> missing() const;
  [[nodiscard]] bool is_complete() const { return joined_ + 1 == members_.size(); }

  /// Until something can be written, or read if that is asked for, or somebody comes.
  void wait(Clock::time_point until, bool reads);
  void let_in();
  void attend_newcomers();
  void make_room();
  /// False if it is done with.
  [[nodiscard]] bool attend(Newcomer& newcomer);
  [[nodiscard]] bool shake_hands(Newcomer& newcomer);
  [[nodiscard]] bool seat(Newcomer& newcomer);
  /// Tells it why it cannot stay.
  void dismiss(Newcomer& newcomer, const std::string& why);
  void turn_away(const Newcomer& newcomer, const std::string& why);
  void attend_members();
  /// False if nothing more has come from it.
  [[nodiscard]] bool attend(std::uint32_t rank);
  void tell_who_is_missing();

  /// Tells all who are here, and throws.
  [[noreturn]] void fail(ErrorCode code, const std::string& message);

  Group group_;
  std::string greeting_;
  Socket listener_;
  Endpoint at_;
  Clock::duration patience_;
  Clock::time_point deadline_;
  bool first_ = true;
  std::size_t joined_ = 0;
  std::vector<Member> members_;    // By rank; that of rank 0 has no connection.
  std::list<Newcomer> newcomers_;  // The oldest first.
  Clock::time_point no_entry_until_{};
  DescriptorShortage shortage_;
  Clock::time_point next_news_{};
  std::vector<std::string> dismissals_;  // For the error message if the group is not complete.
  RejectionLog log_;
};

}  // namespace tutti
