#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <tutti/communicator.hpp>
#include <tutti/communicator_options.hpp>

#include "api/call/call_log.hpp"
#include "api/call/gate.hpp"
#include "api/call/plan_cache.hpp"
#include "api/call/point_to_point.hpp"
#include "api/call/shard_reduction.hpp"
#include "api/call/worker.hpp"
#include "api/group/fabric.hpp"
#include "api/group/retry_count.hpp"
#include "core/process_origin.hpp"
#include "exec/executor.hpp"
#include "flight/black_box.hpp"
#include "flight/settings.hpp"
#include "lifeline/consensus.hpp"
#include "rendezvous/admission_listener.hpp"
#include "select/forecast_cache.hpp"
#include "select/selector.hpp"

namespace tutti {

/// What a communicator is told besides who is in it.
struct CommunicatorSettings {
  FabricSettings fabric{};
  Clock::duration timeout = std::chrono::seconds(60);
  std::shared_ptr<CallLog> log{};
  std::shared_ptr<const Profile> profile{};  ///< Null: the built-in one.
  /// Of the profile; shared by communicators that come from one another. Null: a new one.
  std::shared_ptr<ForecastCache> forecasts{};
  Rules rules{};
  std::shared_ptr<const Network> network{};  ///< Null: unknown.
  std::vector<Rank> places{};                ///< As in Party.
  Shape shape{};                             ///< How ranks stand in nodes; empty: as on the hosts.
  /// By what algorithms are chosen, which must be the same for all: a number of it, and words.
  std::uint64_t choice_digest = 0;
  std::string choice_origin{};
  Threads threads = Threads::single;
  std::size_t direct_from = 0;  ///< As in CallOptions.
  std::size_t slice_bytes = 0;
  FlightSettings flight{};
  std::uint64_t identity = 1;   ///< The same on all ranks, and no other's of the same fabric.
  std::uint64_t completed = 0;  ///< Calls with retry.
  /// Of rank 0, once it has been asked to admit new ranks.
  std::shared_ptr<AdmissionListener> admission{};
};

/// The inside of a communicator: it checks calls, makes them ready, and runs them here or in its
/// worker. When one fails, it asks the consensus for the verdict, which is the same on all ranks.
class Communicator::Impl : private Alarm, private Participant, private MessageHost {
 public:
  /// Of all members of a new fabric.
  Impl(Exchange& exchange, Rank self, std::uint32_t ranks, const CommunicatorSettings& settings);
  /// Of some members of a fabric, who tell each other by the exchange what they need.
  Impl(std::shared_ptr<Fabric> fabric, const Membership& membership, Exchange& exchange,
       const CommunicatorSettings& settings);
  /// Tells the others that it leaves.
  ~Impl() override;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// A forked child must not touch it, but for rank() and size().
  [[nodiscard]] const ProcessOrigin& origin() const { return origin_; }

  [[nodiscard]] std::uint32_t rank() const { return self_.index(); }
  [[nodiscard]] std::uint32_t size() const { return ranks_; }

  void run(const Call& call);
  [[nodiscard]] Work start(const Call& call);
  [[nodiscard]] PointToPoint& point_to_point() { return *messages_; }

  [[nodiscard]] std::optional<Communicator> split(std::optional<std::uint32_t> color,
                                                  std::uint32_t key,
                                                  const CommunicatorOptions& options);
  void abort(const std::string& reason);
  [[nodiscard]] std::optional<Verdict> verdict() const;
  [[nodiscard]] Shrunk shrink(std::uint64_t completed);
  [[nodiscard]] std::optional<Communicator> grow(const Growth& growth);
  [[nodiscard]] std::uint64_t completed() const { return settings_.completed; }
  void set_completed(std::uint64_t calls);
  /// This rank has done its part of a call with retry. Throws the verdict if this rank was asked
  /// for one before: it has said that it has not.
  void note_done(std::uint64_t call);
  /// Whether the verdict says that this call is complete. Then this rank counts it as completed,
  /// and its next call throws the verdict.
  [[nodiscard]] bool accept_completed(std::uint64_t call);

  [[nodiscard]] Counters counters(Collective collective) const;
  [[nodiscard]] Method method_for(const Call& call) { return method_for(call, selector_); }
  [[nodiscard]] std::string description() const;
  /// Where the ranks are and how they reach each other. The same on all ranks.
  [[nodiscard]] const Party& party() const { return links_.party; }

 private:
  /// Only one thread at a time is inside. A second one waits if several may call, and otherwise
  /// gets an error.
  class Entry {
   public:
    explicit Entry(Impl& impl);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Impl& impl_;
  };
  class Presence;

  // What others want of it, from their threads:
  [[nodiscard]] RankStatus status(std::uint64_t about) const override;
  std::uint64_t seal() override { return done_.seal(); }
  void stop() override;
  // What the executor asks when nothing moves:
  void ring() override;
  void note_stall() override;
  // And what messages ask:
  void require_usable() override;
  [[nodiscard]] bool is_alarmed() const override { return raised.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_closed() const override { return gate_.is_closed(); }
  [[nodiscard]] bool has_left(std::uint32_t rank) const override;
  [[nodiscard]] bool has_ended(std::uint32_t rank) const override;
  [[nodiscard]] bool has_stood_down(std::uint32_t rank) const override;
  [[nodiscard]] Error settle_message(const Error& error, const std::string& what,
                                     std::vector<std::uint32_t> suspects) override;
  [[nodiscard]] Clock::duration usual_timeout() const override { return settings_.timeout; }

  [[nodiscard]] PlanCache::Entry& checked(const Call& call);
  [[nodiscard]] const std::shared_ptr<const PreparedCall>& prepared(const Call& call,
                                                                    PlanCache::Entry& entry,
                                                                    Selector& selector);
  [[nodiscard]] Method method_for(const Call& call, Selector& selector) const;
  void check_shards(const Call& call);
  [[nodiscard]] Work start_shards(const Call& call);
  void perform_shards(const Call& call);
  void perform(const PreparedCall& prepared, const Call& call);
  void run_parts(const PreparedCall& prepared, const Call& call, Counters& counters);
  void set_pace(Collective collective, const CallOptions& options);
  [[nodiscard]] Clock::duration timeout_of(const CallOptions& options) const;
  [[nodiscard]] std::uint64_t larger_bytes(const Call& call) const;
  /// What becomes of a call that an error has ended: the others are told, and nobody reads this
  /// rank's memory any more. Returns what to throw.
  [[nodiscard]] Error settle(const Error& error, const std::string& call);
  /// The error as which others see what this rank's own code has thrown.
  [[nodiscard]] Error giving_up(const char* why) const;
  void stand_down();
  [[noreturn]] void refuse();
  /// Tells the others, and waits for what all come to think of it.
  [[nodiscard]] Verdict agree_on_verdict(const Report& report);
  void keep_input(const Call& call);
  void restore_input(const Call& call);
  [[nodiscard]] Shrunk shrink_alone(std::uint64_t completed);
  /// What rank 0 tells the others about those who wait at the door.
  struct Admission;
  [[nodiscard]] Admission open_door(const Growth& growth);
  [[nodiscard]] std::uint32_t wait_at_door(const Growth& growth) const;
  [[nodiscard]] std::string tell_all(const std::string& text, std::chrono::milliseconds more);
  [[nodiscard]] bool have_all_grown(bool has_grown);
  [[nodiscard]] std::optional<Communicator> build_from(const std::vector<std::uint32_t>& members);
  [[nodiscard]] CommunicatorSettings settings_for(const std::vector<std::uint32_t>& members,
                                                  std::uint64_t identity) const;
  [[nodiscard]] Membership membership_of(const std::vector<std::uint32_t>& members,
                                         std::uint64_t identity) const;
  [[nodiscard]] Counters& counters_of(std::size_t kind);
  [[nodiscard]] std::byte* scratch(std::size_t bytes);

  static constexpr std::size_t collectives = 9;

  ProcessOrigin origin_{};
  Rank self_;
  std::uint32_t ranks_;
  CommunicatorSettings settings_;
  std::shared_ptr<Fabric> fabric_;
  std::vector<std::uint32_t> members_;  // By rank: which member of the fabric it is.
  PeerLinks links_;
  Executor executor_;
  Selector selector_;
  PlanCache plans_;
  std::unique_ptr<ShardReduction> shards_;  // Once it is needed.
  std::size_t direct_from_ = 0;             // As the port was last told.
  std::uint64_t calls_ = 0;                 // Collectives so far: the same on all ranks.
  std::optional<std::uint32_t> leaver_;     // Who has left though it is needed.
  std::array<Counters, collectives> counters_;
  std::shared_ptr<std::byte> scratch_;
  std::size_t scratch_bytes_ = 0;
  std::vector<std::byte> nothing_;  // What a barrier moves.
  std::vector<std::byte> kept_;     // The input of a call that is to keep it.
  BlackBox box_;
  RetryCount done_;
  std::atomic<bool> busy_{false};
  std::mutex turn_;                         // Where several threads may call.
  Gate gate_;                               // Closed once there is a verdict.
  std::atomic<bool> has_been_told_{false};  // By a call that failed.
  std::optional<Verdict> own_verdict_;      // Of one rank alone.
  std::mutex own_verdict_mutex_;
  std::unique_ptr<Consensus> consensus_;    // Null for one rank alone.
  std::unique_ptr<PointToPoint> messages_;  // Destroyed before what it asks,
  Worker worker_;                           // and after what may still call it.
};

/// The inside of a communicator, for rooms that look into api. Throws like any call on the
/// communicator if it was moved from or inherited through fork().
[[nodiscard]] Communicator::Impl& internals(const Communicator& communicator);

}  // namespace tutti
