#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/shape.hpp>

#include "lifeline/lifeline.hpp"
#include "rendezvous/exchange.hpp"
#include "select/forecast.hpp"
#include "transport/tcp/handshake.hpp"
#include "transport/tcp/socket.hpp"
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
  /// Ranks with different ones do not share memory though they could: TUTTI_HOSTID.
  std::string host_id{};
  std::string interfaces{};  ///< Which network interfaces to use, as in TUTTI_SOCKET_IFNAME.
  PortRange ports{};
  /// By what algorithms are chosen, which must be the same for all: a number of it, and words.
  std::uint64_t choice_digest = 0;
  std::string choice_origin{};
  /// How long a host may say nothing before it is taken for lost: TUTTI_LOST_AFTER.
  std::chrono::milliseconds lost_after{10000};
  std::chrono::milliseconds start_timeout{60000};
};

/// Lines to others that a rank has already, and which of them are the ranks of a new fabric.
struct Kinship {
  std::shared_ptr<Lifeline> lifeline{};  ///< Null: there are none yet.
  std::vector<std::uint32_t> members{};  ///< By rank: which member of the lifeline it is.
};

/// Everything by which one rank of a communicator reaches the others. Made by all of them together:
/// they tell each other where they are, share memory where they can and sockets where they cannot.
class Fabric {
 public:
  Fabric(Exchange& exchange, Rank self, std::uint32_t ranks, const FabricSettings& settings,
         const Kinship& kinship);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  [[nodiscard]] Transport& transport();
  /// Null for one rank alone.
  [[nodiscard]] const Kinship& kinship() const;
  /// Who takes part; the same on all ranks.
  [[nodiscard]] const Party& party() const;
  /// By rank: see Transport::lane(); empty if there is only one.
  [[nodiscard]] std::span<const std::uint32_t> lanes() const;
  /// "shared memory", "TCP", "TCP with TLS", "shared memory within 2 hosts, TCP between them".
  [[nodiscard]] std::string description() const;
  [[nodiscard]] const FabricSettings& settings() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti
