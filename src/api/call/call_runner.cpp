#include "api/call/call_runner.hpp"

#include <algorithm>
#include <utility>

#include "api/call/call_check.hpp"
#include "api/call/scratch_memory.hpp"

namespace tutti {
namespace {

/// Identifies the call that a piece of data belongs to. All ranks of the call compute the same.
std::uint32_t tag(std::uint64_t number, std::uint32_t signature) {
  std::uint64_t hash = number << 32 | signature;
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
  return static_cast<std::uint32_t>(hash ^ (hash >> 33));
}

constexpr std::size_t least_slice = 1024;

/// Rounds down so that no element of 1, 2, 4, …, 64 bytes is split between two slices.
std::size_t whole_elements(std::size_t bytes) {
  constexpr std::size_t largest_element = 64;
  return std::max(least_slice, bytes / largest_element * largest_element);
}

}  // namespace

CallRunner::CallRunner(Setup setup)
    : self_(setup.self),
      ranks_(setup.ranks),
      links_(setup.links),
      selector_(std::move(setup.selector)),
      health_(setup.health),
      box_(setup.box),
      log_(std::move(setup.log)),
      usual_direct_from_(setup.direct_from),
      usual_slice_bytes_(setup.slice_bytes),
      adopt_from_(links_.maps_heaps ? setup.adopt_from : ~std::size_t{0}),
      executor_(*links_.port, health_.alarm(), ranks_, least_slice) {
  terms_.memory = &memory_;
}

/// Checks all of the call but its buffers, unless an equal call was checked before. A user-defined
/// function is not part of the key, so it is checked each time.
PlanCache::Entry& CallRunner::checked(const Call& call) {
  PlanCache::Entry* const found = plans_.find(call);
  if (found != nullptr && call.reduction.combine() == nullptr) return *found;
  const Caller caller{.self = self_, .ranks = ranks_};
  check(call, caller);
  if (found != nullptr) return *found;
  health_.require_usable();
  check_counts(call, caller);
  return plans_.add(call, extent_of(call, self_, ranks_));
}

const CallRunner::Compiled& CallRunner::compiled(const Call& call, PlanCache::Entry& entry,
                                                 PlanCache& plans, Selector& selector) {
  health_.require_usable();
  const std::optional<Aliasing> known = entry.aliasing(call);
  const Aliasing aliasing =
      known ? *known : check_buffers(call, entry.extent(), {.self = self_, .ranks = ranks_});
  if (!known) entry.set_aliasing(call, aliasing);
  std::shared_ptr<const CompiledCall>& ready = entry.compiled(aliasing);
  if (ready) return ready;
  try {
    const Choice choice = choice_for(call, selector);
    ready = std::make_shared<const CompiledCall>(
        compile_call({.call = call,
                      .method = choice.method,
                      .self = self_,
                      .ranks = ranks_,
                      .aliasing = aliasing,
                      .lanes = links_.lanes,
                      .hosts = choice.shape,
                      .thresholds = selector.forecast().reach_profile().thresholds,
                      .blueprints = plans.blueprints()}));
    return ready;
  } catch (const Error& error) {
    throw Error(error.code(), words(call, self_) + ": " + error.what());
  }
}

// Performing ------------------------------------------------------------------------------------

void CallRunner::perform(const CompiledCall& compiled, const Call& call) {
  const Health::Presence presence(health_);
  const CallMemory::Visit visit(memory_);
  const std::uint64_t number = health_.begin_call();
  set_pace(call.collective, call.options);
  reach(compiled, call);
  links_.port->begin(tag(number, compiled.flight.signature), terms_);
  box_.recorder().announce(number, compiled.flight, call.options.site);
  Counters& counters = counters_of(static_cast<std::size_t>(call.collective));
  ++counters.calls;
  const Run run{.compiled = compiled,
                .call = call,
                .number = number,
                .begun = log_ ? Clock::now() : Clock::time_point{},
                .before = log_ ? counters.total() : PeerCounters{}};
  kept_.clear();
  try {
    if (call.options.keep_input) keep_input(call);
    run_parts(compiled, call, counters);
  } catch (const Error& error) {
    throw settled(run, error);
  } catch (const std::exception& error) {
    (void)settled(run, health_.giving_up(error.what()));
    throw;
  } catch (...) {
    (void)settled(run, health_.giving_up("something that is no std::exception"));
    throw;
  }
  box_.recorder().end();
  finish_outputs(compiled, call, ranks_);
  if (log_) log(run, "");
}

/// The error to throw in place of the one that has ended a run.
Error CallRunner::settled(const Run& run, const Error& error) {
  Error cause = health_.settle(error,
                               "call " + std::to_string(run.number) + ", " +
                                   words(run.call, self_) + " by " + run.compiled.flight.algorithm,
                               executor_.stall());
  restore_input(run.call);
  if (log_) log(run, error.what());
  return cause;
}

void CallRunner::log(const Run& run, std::string_view error) {
  const PeerCounters after = counters_of(static_cast<std::size_t>(run.call.collective)).total();
  log_->write({.rank = self_,
               .ranks = ranks_,
               .number = run.number,
               .call = run.call,
               .algorithm = run.compiled.flight.algorithm,
               .bytes = run.compiled.flight.bytes,
               .bytes_sent = after.bytes_sent - run.before.bytes_sent,
               .bytes_received = after.bytes_received - run.before.bytes_received,
               .time = Clock::now() - run.begun,
               .error = error});
}

/// Has the peers reach long buffers of the call in place, if they can be made to.
void CallRunner::reach(const CompiledCall& compiled, const Call& call) {
  const auto long_enough = [&](const void* buffer, std::uint64_t elements) {
    const std::size_t bytes = elements * compiled.element_bytes;
    // Inputs are not written to: only the map of the address space changes.
    auto* const begin = static_cast<std::byte*>(const_cast<void*>(buffer));
    return bytes < adopt_from_ ? std::span<std::byte>{} : std::span(begin, bytes);
  };
  const std::span<std::byte> input = long_enough(call.input, compiled.inputs);
  const std::span<std::byte> output = long_enough(call.output, compiled.outputs);
  if (!input.empty() || !output.empty()) memory_.enter(input, output);
}

/// Copies the input if the output would overwrite it.
void CallRunner::keep_input(const Call& call) {
  const CallExtent extent = extent_of(call, self_, ranks_);
  const std::size_t bytes = extent.input * element_bytes_of(call);
  const auto* const input = static_cast<const std::byte*>(call.input);
  const auto* const output = static_cast<const std::byte*>(call.output);
  const std::size_t written = extent.output * element_bytes_of(call);
  if (bytes == 0 || written == 0 || input + bytes <= output || output + written <= input) return;
  kept_.assign(input, input + bytes);
}

/// Only once no rank reads the input any more: it could take the old data for the new. The input
/// overlaps the output, so that it may be written to.
void CallRunner::restore_input(const Call& call) {
  if (kept_.empty()) return;
  auto* const output = static_cast<std::byte*>(call.output);
  std::copy(kept_.begin(), kept_.end(),
            output + (static_cast<const std::byte*>(call.input) - output));
}

void CallRunner::run_parts(const CompiledCall& compiled, const Call& call, Counters& counters) {
  const Folding folding{.fold = compiled.fold,
                        .combine = call.reduction.combine().get(),
                        .element_bytes = compiled.element_bytes};
  Buffers buffers{.input = static_cast<const std::byte*>(call.input),
                  .output = static_cast<std::byte*>(call.output)};
  if (call.collective == Collective::barrier) {
    if (nothing_.size() < 2 * compiled.barrier_bytes) nothing_.resize(2 * compiled.barrier_bytes);
    buffers.input = nothing_.data();
    buffers.output = nothing_.data() + compiled.barrier_bytes;
  }
  if (compiled.scratch_bytes + compiled.spare_bytes > 0) {
    buffers.scratch = scratch(compiled.scratch_bytes + compiled.spare_bytes);
    buffers.spare = buffers.scratch + compiled.scratch_bytes;
  }
  const Clock::duration timeout = timeout_of(call.options);
  const auto run = [&](const Plan& plan, const Buffers& at, bool is_first) {
    executor_.begin(plan, at, folding, timeout, counters, is_first);
    // The clock is read while the first sends travel.
    if (is_first) box_.recorder().note_time();
    executor_.finish();
  };
  if (compiled.parts.size() == 1 && compiled.parts.front().repeats == 1) {
    return run(compiled.parts.front().plan, buffers, true);
  }
  bool is_first = true;
  for (const CompiledCall::Part& part : compiled.parts) {
    Buffers shifted = buffers;
    for (std::uint64_t i = 0; i < part.repeats; ++i) {
      run(part.plan, shifted, std::exchange(is_first, false));
      shifted.input += part.stride;
      shifted.output += part.stride;
    }
  }
}

/// Sets the slice size, and the sizes from which data is read in place and copied by the kernel.
void CallRunner::set_pace(Collective collective, const CallOptions& options) {
  const CallOptions::Tuning& tuning = options.tuning;
  const bool is_usual = tuning == CallOptions::Tuning{};
  if (is_usual && usual_pace_of_ == collective) return;
  usual_pace_of_ = is_usual ? std::optional(collective) : std::nullopt;
  const Thresholds& usual = selector_.forecast().reach_profile().thresholds;
  const auto first = [](std::size_t said, std::size_t set, std::size_t otherwise) {
    return said > 0 ? said : set > 0 ? set : otherwise;
  };
  const std::size_t slice =
      whole_elements(first(tuning.slice_bytes, usual_slice_bytes_, usual.slice_bytes));
  executor_.set_slice(slice);
  terms_.staged_at_a_time = slice;
  terms_.zero_copy_from = first(tuning.direct_from, usual_direct_from_,
                                usual.direct_from[static_cast<std::size_t>(collective)]);
  terms_.single_copy_from = first(tuning.single_copy_from, 0,
                                  usual.single_copy_from[static_cast<std::size_t>(collective)]);
}

Clock::duration CallRunner::timeout_of(const CallOptions& options) const {
  // A time point far beyond this would overflow.
  constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 365);
  if (options.timeout.count() <= 0) return health_.usual_timeout();
  return std::min(options.timeout, for_ever);
}

std::uint64_t CallRunner::larger_bytes(const Call& call) const {
  // With counts, no rank knows how much the others exchange.
  constexpr std::uint64_t supposed_block = 4096;
  if (call.collective == Collective::alltoall && !call.counts.empty()) {
    return supposed_block * ranks_;
  }
  std::uint64_t elements = call.count;
  if (has_block_per_rank(call.collective) || call.collective == Collective::alltoall) {
    elements *= ranks_;
    for (const std::uint64_t count : call.counts) elements += count;
  }
  return elements * element_bytes_of(call);
}

CallRunner::Choice CallRunner::choice_for(const Call& call, Selector& selector) const {
  const bool one_fold = needs_one_fold(call);
  if (call.options.algorithm.empty() && call.options.schedule == nullptr) {
    const Candidate& best = selector.choose({.collective = call.collective,
                                             .bytes = larger_bytes(call),
                                             .root = call.root,
                                             .counted = !call.counts.empty(),
                                             .one_fold = one_fold});
    return {.method = best.method, .shape = best.shape};
  }
  Method method = named_method(call, ranks_);
  const std::string refusal = refusal_of_folds(method, one_fold);
  if (!refusal.empty()) throw Error(ErrorCode::unsupported, refusal);
  const Party& party = selector.forecast().party();
  for (const Shape& shape : party.shapes) {
    if (method.refusal({.ranks = ranks_, .root = call.root, .shape = shape}).empty()) {
      return {.method = std::move(method), .shape = shape};
    }
  }
  return {.method = std::move(method), .shape = party.hosts};
}

Counters& CallRunner::counters_of(std::size_t kind) {
  Counters& counters = counters_[kind];
  if (counters.peers.empty()) counters.peers.resize(ranks_);
  return counters;
}

Counters CallRunner::counters(Collective collective) const {
  Counters counters = counters_[static_cast<std::size_t>(collective)];
  counters.peers.resize(ranks_);
  return counters;
}

std::byte* CallRunner::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_.reset();
    scratch_ = scratch_memory(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_.get();
}

// Shards ----------------------------------------------------------------------------------------

void CallRunner::check_shards(const Call& call) {
  const Caller caller{.self = self_, .ranks = ranks_};
  check(call, caller);
  health_.require_usable();
  check_counts(call, caller);
  tutti::check_shards(call, extent_of(call, self_, ranks_), caller);
}

/// The calls that it consists of are compiled here, in the thread that runs them. So they need a
/// selector and a cache of their own.
void CallRunner::perform_shards(const Call& call) {
  if (!shards_) shards_ = std::make_unique<ShardReduction>(selector_.twin(), self_, ranks_);
  const auto run = [&](const Call& part) {
    PlanCache& plans = shards_->plans();
    PlanCache::Entry* const found = plans.find(part);
    PlanCache::Entry& entry = found ? *found : plans.add(part, extent_of(part, self_, ranks_));
    const std::shared_ptr<const CompiledCall> ready =
        compiled(part, entry, plans, shards_->selector());
    perform(*ready, part);
  };
  // With keep_input: a copy of the shard that the output overwrites, to restore it after a failure.
  const CallExtent extent = extent_of(call, self_, ranks_);
  const std::size_t bytes = extent.input * element_bytes_of(call);
  const std::size_t own = extent.own_block * element_bytes_of(call);
  std::vector<std::byte> kept;
  std::byte* overwritten = nullptr;
  for (const void* const shard : *call.shards) {
    const auto* const begin = static_cast<const std::byte*>(shard);
    if (!call.options.keep_input || call.output == nullptr || begin + own != call.output) continue;
    overwritten = static_cast<std::byte*>(call.output) - own;
    kept.assign(begin, begin + bytes);
  }
  try {
    shards_->perform(call, run);
  } catch (const Error& error) {
    if (!kept.empty()) std::copy(kept.begin(), kept.end(), overwritten);
    throw Error(error.code(), words(call, self_) + ", in shards: " + error.what());
  }
}

}  // namespace tutti
