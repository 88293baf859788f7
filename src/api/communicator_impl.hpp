#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <tutti/communicator.hpp>

#include "api/call_log.hpp"
#include "api/fabric.hpp"
#include "api/plan_cache.hpp"
#include "api/worker.hpp"
#include "exec/executor.hpp"
#include "select/selector.hpp"

namespace tutti {

/// What a communicator is told besides who is in it.
struct CommunicatorSettings {
  FabricSettings fabric{};
  Clock::duration timeout = std::chrono::seconds(60);
  std::shared_ptr<CallLog> log{};
  std::shared_ptr<const Profile> profile{};  ///< Null: the built-in one.
  Rules rules{};
  std::shared_ptr<const Network> network{};  ///< Null: unknown.
  std::vector<Rank> places{};                ///< As in Party.
  std::size_t direct_from = 0;               ///< As in CallOptions.
  std::size_t slice_bytes = 0;
};

/// The inside of a communicator: it checks calls, makes them ready, and runs them here or in its
/// worker.
class Communicator::Impl {
 public:
  Impl(Exchange& exchange, Rank self, std::uint32_t ranks, const CommunicatorSettings& settings);

  [[nodiscard]] std::uint32_t rank() const { return self_.index(); }
  [[nodiscard]] std::uint32_t size() const { return ranks_; }

  void run(const Call& call);
  [[nodiscard]] Work start(const Call& call);
  void run_pair(const Parcel& out, const Parcel& in, const CallOptions& options);
  [[nodiscard]] Work start_pair(const Parcel& out, const Parcel& in, const CallOptions& options);

  [[nodiscard]] std::optional<Communicator> split(std::optional<std::uint32_t> color,
                                                  std::uint32_t key);
  void abort(const std::string& reason);

  [[nodiscard]] Counters counters(Collective collective) const;
  [[nodiscard]] const Algorithm& algorithm_for(const Call& call);
  [[nodiscard]] std::string description() const;

 private:
  class Entry;

  [[nodiscard]] const std::shared_ptr<const PreparedCall>& prepared(const Call& call,
                                                                    const CallExtent& extent);
  void perform(const PreparedCall& prepared, const Call& call, std::uint64_t outputs);
  void run_parts(const PreparedCall& prepared, const Call& call, Counters& counters);
  void perform_pair(const Parcel& out, const Parcel& in, const CallOptions& options);
  void set_pace(Collective collective, const CallOptions& options);
  [[nodiscard]] Clock::duration timeout_of(const CallOptions& options) const;
  [[nodiscard]] std::uint64_t larger_bytes(const Call& call) const;
  [[noreturn]] void fail(const Error& error, const std::string& call);
  void require_usable() const;
  [[nodiscard]] Counters& counters_of(std::size_t kind);
  [[nodiscard]] std::byte* scratch(std::size_t bytes);

  static constexpr std::size_t pair_kind = 9;  // After the nine collectives.

  Rank self_;
  std::uint32_t ranks_;
  CommunicatorSettings settings_;
  Fabric fabric_;
  Executor executor_;
  Selector selector_;
  PlanCache plans_;
  std::size_t direct_from_ = 0;          // As the transport was last told.
  std::uint64_t calls_ = 0;              // Collectives so far: the same on all ranks.
  std::vector<std::uint32_t> sends_;     // By peer: how often it was sent to alone,
  std::vector<std::uint32_t> receives_;  // and received from.
  std::array<Counters, pair_kind + 1> counters_;
  std::shared_ptr<std::byte> scratch_;
  std::size_t scratch_bytes_ = 0;
  std::array<std::byte, 64> nothing_{};  // What a barrier moves.
  std::atomic<bool> busy_{false};
  std::atomic<bool> unusable_{false};
  mutable std::mutex reason_mutex_;
  std::string reason_;  // Why it is unusable.
  Worker worker_;       // Goes first.
};

}  // namespace tutti
