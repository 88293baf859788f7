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

/// Any rank but 0 in a rendezvous over sockets: dials rank 0, which may start later.
class TcpMember : public Exchange {
 public:
  /// Where rank 0 may be. Asked again from time to time, as names may become known late; what it
  /// throws is the reason why there is nothing to dial just now.
  using Finder = std::function<std::vector<Endpoint>()>;

  /// Dials until rank 0 lets it in. Throws timed_out that says what was tried, mismatch if rank 0
  /// turns it away or has another secret. Each all_gather() may take as long as this might have.
  /// Requires: group.rank is not 0.
  TcpMember(Group group, const Finder& find_root, Clock::time_point deadline);

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& card) override;

 private:
  [[nodiscard]] Frame receive(Clock::time_point deadline);
  /// Tells rank 0, so that it knows who was missing and not who ran out of patience.
  [[noreturn]] void fail_late();

  Group group_;
  Clock::duration patience_;
  bool first_ = true;
  Clock::time_point deadline_;
  std::optional<FramedChannel> root_;
  std::string missing_;  // As rank 0 last told it.
};

}  // namespace tutti
