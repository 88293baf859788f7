#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>
#include <tutti/shape.hpp>

#include "exec/messenger.hpp"
#include "lifeline/lifeline.hpp"
#include "net/handshake.hpp"
#include "net/socket.hpp"
#include "select/forecast.hpp"
#include "transport/table.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// By which way ranks are to reach each other.
enum class Way {
  automatic,  ///< Memory within a host, TCP between hosts.
  memory,     ///< Memory, or an error.
  tcp,        ///< TCP even within a host.
};

/// What a fabric is told by the user rather than by the other ranks.
struct FabricSettings {
  Way way = Way::automatic;
  Secret secret{};
  /// Whoever is reached by the exchange belongs here: then rank 0 can make up the secret where the
  /// user has given none. Otherwise ranks on several hosts need one.
  bool trusts_exchange = false;
  /// Ranks with different ones do not share memory though they could: TUTTI_HOSTID.
  std::string host_id{};
  std::string interfaces{};  ///< Which network interfaces to use, as in TUTTI_SOCKET_IFNAME.
  PortRange ports{};
  /// How long a host may say nothing before it is taken for lost: TUTTI_LOST_AFTER.
  std::chrono::milliseconds lost_after{10000};
  std::chrono::milliseconds start_timeout{60000};
};

/// By what a communicator chooses algorithms: a number, which must be the same on all ranks, and
/// words.
struct ChoiceBasis {
  std::uint64_t digest = 0;
  std::string origin{};
};

/// How one communicator reaches its ranks.
struct PeerLinks {
  std::unique_ptr<Port> port{};
  /// By rank: see Port::lane(); empty if there is only one.
  std::vector<std::uint32_t> lanes{};
  Party party{};  ///< Who takes part; the same on all ranks.
  /// "shared memory", "TCP", "TCP with TLS", "shared memory within 2 hosts, TCP between them".
  std::string description{};
};

/// Everything by which one rank reaches those that were started together with it: what they know
/// of each other, the lifeline, and the transports. Made by all of them together, once; all
/// communicators that come from one another share it. Thread-safe.
class Fabric {
 public:
  Fabric(Exchange& exchange, Rank self, std::uint32_t ranks, const FabricSettings& settings);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// Makes the links of a communicator: all its ranks call it together, and tell each other by the
  /// exchange, in one round of texts of `offer_bytes` each, what they need. Throws on all ranks
  /// alike: unsupported if one has no room for another communicator, mismatch if they do not choose
  /// algorithms alike.
  [[nodiscard]] PeerLinks link(const Membership& membership, Exchange& exchange,
                               const ChoiceBasis& basis);
  static constexpr std::size_t offer_bytes = 176;
  /// What a rank tells the others in place of link() if it was given options that it cannot take.
  [[nodiscard]] static std::string refusal();

  /// By which the messages of all communicators go.
  [[nodiscard]] Messenger& messenger();
  /// Null for one rank alone.
  [[nodiscard]] const std::shared_ptr<Lifeline>& lifeline() const;
  [[nodiscard]] const FabricSettings& settings() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti
