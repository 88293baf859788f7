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

/// Rank 0 of a rendezvous over sockets: the others connect to it, send their contributions and get
/// those of all ranks.
///
/// Other peers are rejected: those that send nothing, garbage or an incomplete handshake, do not
/// know the secret, or are not ranks of this job. None of them can delay the group.
class TcpRoot : public Exchange {
 public:
  /// Requires: group.rank is 0. Without a secret `listener` must be unreachable from other hosts,
  /// else throws invalid_argument. The first all_gather() may take until `deadline`; how long later
  /// ones may take says `span`.
  TcpRoot(Group group, Socket listener, Clock::time_point deadline,
          DeadlineSpan span = DeadlineSpan::first_round, Inquiry inquiry = {});

  /// The address that the others connect to.
  [[nodiscard]] Endpoint endpoint() const { return at_; }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& contribution) override;

 private:
  /// A connection that has not yet joined as a rank.
  struct Newcomer {
    FramedChannel connection;
    std::string from{};
    std::optional<Handshake> handshake{};
    Clock::time_point deadline{};
    Rank rank{};
    bool is_rejected = false;  // It has been told why, and the connection is to close.
    bool wants_to_write = false;
  };
  struct Member {
    std::unique_ptr<FramedChannel> connection;  // Null until it has joined.
    std::optional<std::string> contribution;
    std::vector<std::uint32_t> told;  // The missing ranks that it was last told of.
    bool is_ready = false;            // There may be something to receive.
  };

  void gather(Clock::time_point deadline);
  void distribute(Clock::time_point deadline);
  [[nodiscard]] std::vector<std::uint32_t> missing() const;
  [[nodiscard]] bool is_complete() const { return joined_ + 1 == members_.size(); }

  /// Sleeps until something can be written, or read if `reads`, or a peer connects.
  void wait(Clock::time_point until, bool reads);
  void accept_all();
  void advance_newcomers();
  void evict();
  /// False if the newcomer is to be forgotten.
  [[nodiscard]] bool advance(Newcomer& newcomer);
  [[nodiscard]] bool shake_hands(Newcomer& newcomer);
  [[nodiscard]] bool join(Newcomer& newcomer);
  /// Logs the rejection, and tells the peer the reason.
  void reject(Newcomer& newcomer, const std::string& why);
  void log_rejection(const Newcomer& newcomer, const std::string& why);
  void advance_members();
  /// False if no frame has arrived from it.
  [[nodiscard]] bool advance(std::uint32_t rank);
  void tell_missing_ranks();

  /// Sends the error to all ranks that have joined, and throws it.
  [[noreturn]] void fail(ErrorCode code, const std::string& message);

  Group group_;
  std::string greeting_;
  Socket listener_;
  Endpoint at_;
  Clock::duration patience_;
  Clock::time_point deadline_;
  DeadlineSpan span_;
  Inquiry inquiry_;
  bool first_ = true;
  std::size_t joined_ = 0;
  std::vector<Member> members_;    // By rank. Rank 0 has no connection.
  std::list<Newcomer> newcomers_;  // The oldest first.
  Clock::time_point next_accept_{};
  DescriptorShortage shortage_;
  Clock::time_point next_news_{};
  std::vector<std::string> rejections_;  // For the error message if ranks are missing.
  RejectionLog log_;
};

}  // namespace tutti
