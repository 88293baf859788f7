#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>

#include "core/clock.hpp"
#include "net/socket.hpp"
#include "rendezvous/framed_channel.hpp"
#include "rendezvous/group.hpp"

namespace tutti {

/// Any rank but 0 in a rendezvous over sockets: connects to rank 0, which may start later.
class TcpMember : public Exchange {
 public:
  /// Returns the addresses that rank 0 may have. Called again from time to time, since a name may
  /// become resolvable later; an Error that it throws is quoted if time runs out.
  using Finder = std::function<std::vector<Endpoint>()>;

  /// Connects, and waits until rank 0 accepts this rank. Throws timed_out that lists the attempts;
  /// and mismatch if rank 0 rejects this rank or has another secret. The first all_gather() may
  /// take until `deadline`; how long later ones may take says `span`. `inquiry` is asked until rank
  /// 0 accepts this rank, which it tells of a failure from then on.
  /// Requires: group.rank is not 0.
  TcpMember(Group group, const Finder& find_root, Clock::time_point deadline,
            DeadlineSpan span = DeadlineSpan::first_round, const Inquiry& inquiry = {});

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& contribution) override;

 private:
  [[nodiscard]] Frame receive(Clock::time_point deadline);
  /// Tells rank 0 before it throws: rank 0 then names the missing ranks, and does not take this
  /// rank for lost.
  [[noreturn]] void fail_late();

  Group group_;
  Clock::duration patience_;
  DeadlineSpan span_;
  bool first_ = true;
  Clock::time_point deadline_;
  std::optional<FramedChannel> root_;
  std::string missing_;  // The missing ranks, as rank 0 last told.
};

}  // namespace tutti
