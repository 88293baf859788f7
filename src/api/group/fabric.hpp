#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>

#include "api/group/fabric_settings.hpp"
#include "api/group/link_offer.hpp"
#include "api/group/roster.hpp"
#include "api/group/transport_set.hpp"
#include "lifeline/lifeline.hpp"
#include "messages/messenger.hpp"
#include "select/forecast.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// How one communicator reaches its ranks.
struct PeerLinks {
  std::unique_ptr<Port> port{};
  /// By rank: see Port::lane(). Empty if there is only one lane.
  std::vector<std::uint32_t> lanes{};
  bool maps_heaps = false;  ///< As in TransportRow, for some of the ranks.
  Party party{};  ///< What the choice of algorithms must know of the group; equal on all ranks.
  /// "shared memory", "TCP", "TCP with TLS", "shared memory within 2 hosts, TCP between them".
  std::string description{};
};

/// The connections of one rank to the ranks that were started with it: where they are, the failure
/// detector, the transports, and the messenger. All of them create it together, once. All
/// communicators that derive from one another share it. Thread-safe.
class Fabric {
 public:
  Fabric(Exchange& exchange, Rank self, std::uint32_t ranks, FabricSettings settings);
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// Links a communicator. All its ranks call it together; it takes one round of the exchange, with
  /// one LinkOffer from each. Throws on all ranks alike: unsupported if one has no room for another
  /// communicator, mismatch if the ranks do not choose algorithms alike.
  [[nodiscard]] PeerLinks link(const Membership& membership, Exchange& exchange,
                               const ChoiceBasis& basis);

  /// For the point-to-point messages of all communicators.
  [[nodiscard]] Messenger& messenger() { return *messenger_; }
  /// Null for one rank alone.
  [[nodiscard]] const std::shared_ptr<Lifeline>& lifeline() const { return lifeline_; }
  [[nodiscard]] const FabricSettings& settings() const { return settings_; }

 private:
  void open_lifeline(Exchange& exchange);
  [[nodiscard]] LinkOffer offer(const Membership& membership) const;
  void withdraw(const LinkOffer& own) const;
  [[nodiscard]] PeerLinks link(const Membership& membership,
                               std::span<const LinkOffer> offers) const;
  [[nodiscard]] Party party(const Membership& membership) const;
  [[nodiscard]] Pairs pairs(const Membership& membership) const;
  [[nodiscard]] std::string description(const Membership& membership) const;

  FabricSettings settings_;
  Roster roster_;
  std::shared_ptr<Lifeline> lifeline_;
  std::optional<TransportSet> transports_;  // None for one rank alone.
  std::optional<Messenger> messenger_;
};

}  // namespace tutti
