#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>

#include "api/call/call_runner.hpp"
#include "api/call/point_to_point.hpp"
#include "api/call/prepared_call.hpp"
#include "api/call/worker.hpp"
#include "api/communicator_settings.hpp"
#include "api/failure/health.hpp"
#include "api/group/checked_exchange.hpp"
#include "api/group/fabric.hpp"
#include "core/process_origin.hpp"
#include "flight/black_box.hpp"

namespace tutti {

/// The parts of a communicator: its links to the other ranks, its health, the runner of its
/// collectives, its messages, and the worker that carries out calls in the background.
class Communicator::Impl {
 public:
  /// For all members of a new fabric. The exchange may be a program's own: its answers are checked.
  Impl(Exchange& exchange, Rank self, std::uint32_t ranks, const CommunicatorSettings& settings)
      : Impl(CheckedExchange(exchange, self, ranks), self, ranks, settings) {}
  /// For some members of a fabric, which exchange their offers.
  Impl(std::shared_ptr<Fabric> fabric, const Membership& membership, Exchange& exchange,
       const CommunicatorSettings& settings);
  /// Completes what was started, and tells the other ranks that this one leaves.
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// A forked child may call rank() and size() only.
  [[nodiscard]] const ProcessOrigin& origin() const { return origin_; }
  [[nodiscard]] std::uint32_t rank() const { return membership_.self; }
  [[nodiscard]] std::uint32_t size() const { return membership_.size(); }

  /// Throws in a forked child.
  void require_here() const;

  void run(const Call& call);
  [[nodiscard]] Work start(const Call& call);
  [[nodiscard]] PreparedCall prepare(const Call& call);
  void run(const PreparedCall::State& prepared);
  [[nodiscard]] Work start(const std::shared_ptr<PreparedCall::State>& prepared);
  /// Waits until all started collectives have ended.
  void finish_started();

  [[nodiscard]] Health& health() { return health_; }
  [[nodiscard]] const CallRunner& runner() const { return runner_; }
  [[nodiscard]] CallRunner& runner() { return runner_; }
  [[nodiscard]] PointToPoint& point_to_point() { return *messages_; }

  /// "4 ranks, shared memory".
  [[nodiscard]] std::string description() const;
  /// Where the ranks are and how they reach each other. The same on all ranks.
  [[nodiscard]] const Party& party() const { return links_.party; }

  // For communicators that derive from this one:

  [[nodiscard]] const std::shared_ptr<Fabric>& fabric() const { return fabric_; }
  [[nodiscard]] CommunicatorSettings& settings() { return settings_; }
  /// A communicator of some of these ranks, this one among them.
  [[nodiscard]] Membership membership_of(const std::vector<std::uint32_t>& members,
                                         std::uint64_t identity) const;
  [[nodiscard]] CommunicatorSettings settings_for(const std::vector<std::uint32_t>& members,
                                                  std::uint64_t identity) const;

  /// Held during a call of the user's. One thread at a time may have it; a second one waits if
  /// CommunicatorOptions::threads allows several, and otherwise gets an error.
  class Entry {
   public:
    explicit Entry(Impl& impl);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Impl& impl_;
  };

 private:
  Impl(CheckedExchange exchange, Rank self, std::uint32_t ranks,
       const CommunicatorSettings& settings);

  /// Runs a call at once if none is before it.
  template <class Perform>
  void run_in_turn(const Perform& perform);
  void perform(const PreparedCall::State& prepared);

  ProcessOrigin origin_{};
  std::shared_ptr<Impl*> handle_ = std::make_shared<Impl*>(this);  // Of prepared calls.
  Membership membership_;
  CommunicatorSettings settings_;
  std::shared_ptr<Fabric> fabric_;
  PeerLinks links_;
  std::atomic<bool> busy_{false};
  std::mutex turn_;  // Used if several threads may call.
  BlackBox box_;
  RunningMessages running_messages_;
  Health health_;
  CallRunner runner_;
  std::optional<PointToPoint> messages_;  // Destroyed before what it uses,
  Worker worker_;                         // and after the calls that may use it.
};

/// The inside of a communicator, for rooms that look into api. Throws like any call on the
/// communicator if it was moved from or inherited through fork().
[[nodiscard]] Communicator::Impl& internals(const Communicator& communicator);

}  // namespace tutti
