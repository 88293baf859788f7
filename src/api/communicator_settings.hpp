#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tutti/communicator_options.hpp>
#include <tutti/rank.hpp>
#include <tutti/shape.hpp>

#include "api/call/call_log.hpp"
#include "api/group/fabric_settings.hpp"
#include "core/clock.hpp"
#include "flight/settings.hpp"
#include "rendezvous/admission_listener.hpp"
#include "select/forecast_cache.hpp"
#include "select/rules.hpp"

namespace tutti {

/// The settings of a communicator.
struct CommunicatorSettings {
  FabricSettings fabric{};
  /// As the user gave it: processes that join later must know it, too. That of the fabric may
  /// contain the key of a UniqueId.
  Secret users_secret{};
  Clock::duration timeout = std::chrono::seconds(60);
  std::shared_ptr<CallLog> log{};
  std::shared_ptr<const Profile> profile{};  ///< Null: the built-in one.
  /// Predictions by the profile, shared by communicators that derive from one another. Null: a new
  /// cache.
  std::shared_ptr<ForecastCache> forecasts{};
  Rules rules{};
  std::shared_ptr<const Network> network{};  ///< Null: unknown.
  std::vector<Rank> places{};                ///< As in Party.
  Shape shape{};                             ///< Ranks per node x nodes; empty: as on the hosts.
  /// What the choice of algorithms is based on, which must be equal on all ranks: see ChoiceBasis.
  std::uint64_t choice_digest = 0;
  std::string choice_origin{};
  Threads threads = Threads::single;
  std::function<void()> while_waiting{};  ///< As in CommunicatorOptions.
  std::size_t direct_from = 0;            ///< As in CallOptions.
  std::size_t slice_bytes = 0;
  std::size_t adopt_from = 0;  ///< As in CommunicatorOptions::adopt, in bytes.
  FlightSettings flight{};
  std::uint64_t identity = 1;   ///< The same on all ranks, and unique within the fabric.
  std::uint64_t completed = 0;  ///< Calls with retry.
  /// Rank 0's, once it was asked to admit new ranks.
  std::shared_ptr<AdmissionListener> admission{};
};

}  // namespace tutti
