#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tutti/call.hpp>
#include <tutti/counters.hpp>

#include "api/call/call_log.hpp"
#include "api/call/compiled_call.hpp"
#include "api/call/plan_cache.hpp"
#include "api/call/shard_reduction.hpp"
#include "api/failure/health.hpp"
#include "exec/executor.hpp"
#include "flight/black_box.hpp"
#include "select/selector.hpp"
#include "transport/memory/call_memory.hpp"

namespace tutti {

/// Checks the collectives of one rank, compiles them, and runs them.
///
/// Checking and preparing are for the thread of the caller, performing for the thread that carries
/// out the calls: each for one thread at a time, and both may run at once.
class CallRunner {
 public:
  struct Setup {
    Rank self;
    std::uint32_t ranks;
    const PeerLinks& links;
    Selector selector;
    Health& health;
    BlackBox& box;
    std::shared_ptr<CallLog> log;
    std::size_t direct_from = 0;  ///< As in CallOptions; 0: the profile's.
    std::size_t adopt_from = 0;
    std::size_t slice_bytes = 0;
  };
  using Compiled = std::shared_ptr<const CompiledCall>;

  /// What the setup refers to must outlive this.
  explicit CallRunner(Setup setup);

  /// Throws if the call cannot be right or the communicator has failed. The reference is valid
  /// until the next call is compiled.
  [[nodiscard]] const Compiled& compile(const Call& call) {
    return compiled(call, checked(call), plans_, selector_);
  }
  void perform(const CompiledCall& compiled, const Call& call);

  /// The same for a call with shards, which is made of several calls.
  void check_shards(const Call& call);
  void perform_shards(const Call& call);

  [[nodiscard]] Method method_for(const Call& call) { return choice_for(call, selector_).method; }
  [[nodiscard]] Counters counters(Collective collective) const;

 private:
  static constexpr std::size_t collectives = 9;

  [[nodiscard]] PlanCache::Entry& checked(const Call& call);
  /// The entry is one of `plans`.
  [[nodiscard]] const Compiled& compiled(const Call& call, PlanCache::Entry& entry,
                                         PlanCache& plans, Selector& selector);
  /// The method of a call, and the shape that it is to use if it needs one.
  struct Choice {
    Method method;
    Shape shape{};
  };
  [[nodiscard]] Choice choice_for(const Call& call, Selector& selector) const;
  /// A call that is being performed.
  struct Run {
    const CompiledCall& compiled;
    const Call& call;
    std::uint64_t number;
    // For the log, if there is one:
    Clock::time_point begun;
    PeerCounters before;
  };
  [[nodiscard]] Error settled(const Run& run, const Error& error);
  void log(const Run& run, std::string_view error);
  [[nodiscard]] std::uint64_t larger_bytes(const Call& call) const;
  void run_parts(const CompiledCall& compiled, const Call& call, Counters& counters);
  void set_pace(Collective collective, const CallOptions& options);
  [[nodiscard]] Clock::duration timeout_of(const CallOptions& options) const;
  void reach(const CompiledCall& compiled, const Call& call);
  void keep_input(const Call& call);
  void restore_input(const Call& call);
  [[nodiscard]] Counters& counters_of(std::size_t kind);
  [[nodiscard]] std::byte* scratch(std::size_t bytes);

  Rank self_;
  std::uint32_t ranks_;
  const PeerLinks& links_;
  Selector selector_;
  Health& health_;
  BlackBox& box_;
  std::shared_ptr<CallLog> log_;
  std::size_t usual_direct_from_;
  std::size_t usual_slice_bytes_;
  std::size_t adopt_from_;
  Executor executor_;
  PlanCache plans_;
  std::unique_ptr<ShardReduction> shards_;   // Created when first needed.
  Port::Terms terms_{};                      // Of the current call.
  CallMemory memory_;                        // Likewise.
  std::optional<Collective> usual_pace_of_;  // The pace is the usual one of this collective.
  std::array<Counters, collectives> counters_;
  std::shared_ptr<std::byte> scratch_;
  std::size_t scratch_bytes_ = 0;
  std::vector<std::byte> nothing_;  // The data of a barrier.
  std::vector<std::byte> kept_;     // A copy of the input, with CallOptions::keep_input.
};

}  // namespace tutti
