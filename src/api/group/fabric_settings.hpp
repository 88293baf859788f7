#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "net/secret.hpp"
#include "net/socket.hpp"

namespace tutti {

/// What the user, not the other ranks, tells a fabric.
struct FabricSettings {
  /// The transports that ranks may use: TransportRow::choice. Empty: the fastest for each pair.
  std::string transport{};
  Secret secret{};
  /// The exchange reaches members of the group only. Then rank 0 may generate the secret if the
  /// user gave none. Otherwise ranks on several hosts need a secret.
  bool trusts_exchange = false;
  /// TUTTI_HOSTID: ranks with different ids do not share memory even if they could.
  std::string host_id{};
  std::string interfaces{};  ///< Network interfaces to use, as in TUTTI_SOCKET_IFNAME.
  PortRange ports{};
  /// TUTTI_LOST_AFTER: a host that is silent for so long is taken for lost.
  std::chrono::milliseconds lost_after{10000};
  std::chrono::milliseconds start_timeout{60000};
  /// When the start must be over as a whole, if that is limited.
  std::optional<Clock::time_point> start_by{};
};

}  // namespace tutti
