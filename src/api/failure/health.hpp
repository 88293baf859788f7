#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/verdict.hpp>

#include "api/failure/call_alarm.hpp"
#include "api/failure/gate.hpp"
#include "api/failure/local_participant.hpp"
#include "api/failure/message_host.hpp"
#include "api/failure/retry_count.hpp"
#include "api/failure/running_messages.hpp"
#include "api/group/fabric.hpp"
#include "exec/executor.hpp"
#include "flight/black_box.hpp"
#include "lifeline/consensus.hpp"

namespace tutti {

/// Whether a communicator still works, and the verdict once it does not. It reports the errors of
/// calls and messages to the other ranks, agrees with them on one verdict, and lets no call begin
/// afterwards.
///
/// Messages ask it about their peers; the executor asks its alarm while a call waits.
class Health final : public MessageHost {
 public:
  struct Setup {
    std::shared_ptr<Fabric> fabric;
    const Membership& membership;
    Port& port;
    BlackBox& box;
    const RunningMessages& messages;
    Clock::duration timeout;
    std::uint64_t completed = 0;            ///< Calls with retry.
    std::function<void()> while_waiting{};  ///< As in CommunicatorOptions.
  };

  /// What the setup refers to must outlive this.
  explicit Health(const Setup& setup);
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  /// Lasts as long as a call. A rank that is not in a call when there is a verdict, or leaves one
  /// then, revokes: it no longer reads the memory of other ranks.
  class Presence {
   public:
    /// Throws the verdict if there is one.
    explicit Presence(Health& health) : health_(health) {
      if (health.gate_.enter()) return;
      health.retire();
      health.refuse();
    }
    ~Presence() {
      if (!health_.gate_.leave()) health_.retire();
    }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;

   private:
    Health& health_;
  };

  /// How many collectives began: the same number on all ranks.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// Returns the number of the new call.
  std::uint64_t begin_call() { return ++calls_; }

  /// An error has ended the current call: reports it, waits for the verdict, and waits until no
  /// rank reads this rank's memory. Returns the error to throw.
  [[nodiscard]] Error settle(const Error& error, const std::string& call, const Stall& stall);
  /// What the ranks do together ("grow") cannot go on, though no call has failed: as settle().
  [[nodiscard]] Error give_up(const Error& error, const std::string& what,
                              std::vector<std::uint32_t> suspects);
  /// The error that other ranks get if this rank's own code has thrown.
  [[nodiscard]] Error giving_up(const char* why) const;

  void abort(const std::string& reason);
  /// Throws invalid_argument if the communicator has not failed and no rank has left it. After this
  /// there is a verdict.
  void require_failure();
  [[nodiscard]] std::optional<Verdict> verdict() const;
  /// This rank leaves the communicator. It has sent so many messages to each rank.
  void leave(const std::map<std::uint32_t, std::uint64_t>& messages);
  /// Null for one rank alone.
  [[nodiscard]] Consensus* consensus() const { return consensus_.get(); }

  /// How many calls with retry are complete.
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  void set_completed(std::uint64_t calls);
  /// This rank has done its part of a call with retry. Throws the verdict if the ranks were already
  /// agreeing on one, for which this rank has said that the call is not done.
  void note_done(std::uint64_t call);
  /// Whether the verdict says that this call is complete. Then this rank counts it as completed,
  /// and the next call throws the verdict.
  [[nodiscard]] bool accept_completed(std::uint64_t call);

  // MessageHost
  void require_usable() override;
  [[nodiscard]] bool is_alarmed() const override {
    return alarm_.raised.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_closed() const override { return gate_.is_closed(); }
  void inquire(std::uint32_t rank) override;
  [[nodiscard]] std::optional<std::uint64_t> messages_of_leaver(std::uint32_t rank) const override;
  [[nodiscard]] bool has_ended(std::uint32_t rank) const override;
  [[nodiscard]] bool has_revoked(std::uint32_t rank) const override;
  [[nodiscard]] Error settle_message(const Error& error, const std::string& what,
                                     std::vector<std::uint32_t> suspects) override;
  [[nodiscard]] Clock::duration usual_timeout() const override { return timeout_; }

  [[nodiscard]] Alarm& alarm() { return alarm_; }

 private:
  [[nodiscard]] bool has_failed();

  void retire();
  [[nodiscard]] Verdict agree_on_verdict(const Report& report);
  void revoke();
  [[noreturn]] void refuse();

  Rank self_;
  std::vector<std::uint32_t> members_;  // By rank: its member index in the fabric.
  std::shared_ptr<Fabric> fabric_;
  Port& port_;
  BlackBox& box_;
  Clock::duration timeout_;
  std::uint64_t completed_;
  RetryCount done_;
  std::uint64_t calls_ = 0;
  Gate gate_;  // Closed once there is a verdict.
  CallAlarm alarm_;
  LocalParticipant participant_;
  std::atomic<bool> has_been_told_{false};  // A call has thrown the verdict.
  mutable std::mutex own_verdict_mutex_;
  std::optional<Verdict> own_verdict_;  // Of one rank alone.
  std::unique_ptr<Consensus> consensus_;
};

}  // namespace tutti
