#include "api/communicator_impl.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "api/call/call_check.hpp"
#include "api/call/scratch_memory.hpp"

namespace tutti {
namespace {

/// Which call a piece of data belongs to: what all ranks must agree on, in few bits.
std::uint32_t tag(std::uint64_t number, std::uint32_t signature) {
  std::uint64_t hash = number << 32 | signature;
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
  return static_cast<std::uint32_t>(hash ^ (hash >> 33));
}

constexpr std::size_t least_slice = 1024;

/// No element is torn between two slices.
std::size_t whole_elements(std::size_t bytes) {
  constexpr std::size_t largest_element = 64;
  return std::max(least_slice, bytes / largest_element * largest_element);
}

CommunicatorSettings with_forecasts(CommunicatorSettings settings) {
  if (!settings.forecasts) settings.forecasts = std::make_shared<ForecastCache>(settings.profile);
  return settings;
}

/// With what the user knows of the network.
Party party_on(const CommunicatorSettings& settings, Party party) {
  if (!settings.shape.empty()) party.hosts = settings.shape;
  if (!settings.network || party.ranks == 1) return party;
  party.network = settings.network;
  party.places = settings.places;
  const std::uint32_t known = settings.network->rank_count();
  if (settings.places.empty()) {
    if (known != party.ranks) {
      throw Error(ErrorCode::invalid_argument, "TUTTI_TOPO_FILE describes a network of " +
                                                   in_plural(known, "rank") + ", and here are " +
                                                   std::to_string(party.ranks));
    }
    if (settings.shape.empty()) party.hosts = natural_shape(*settings.network);
  }
  return party;
}

Membership everyone(Rank self, std::uint32_t ranks, std::uint64_t identity) {
  Membership membership{.context = identity, .self = self, .members = {}};
  membership.members.resize(ranks);
  std::iota(membership.members.begin(), membership.members.end(), 0);
  return membership;
}

}  // namespace

Communicator::Impl::Entry::Entry(Impl& impl) : impl_(impl) {
  if (impl.settings_.threads == Threads::multiple) {
    impl.turn_.lock();
    return;
  }
  if (!impl.busy_.exchange(true, std::memory_order_acquire)) return;
  throw Error(ErrorCode::invalid_argument,
              "rank " + std::to_string(impl.rank()) +
                  ": two threads call one communicator at once; give each thread a duplicate(), or "
                  "make the communicator with CommunicatorOptions::threads = Threads::multiple");
}

Communicator::Impl::Entry::~Entry() {
  if (impl_.settings_.threads == Threads::multiple) {
    impl_.turn_.unlock();
  } else {
    impl_.busy_.store(false, std::memory_order_release);
  }
}

/// In a call. A rank that is found, or finds itself, outside of any when there is a verdict stands
/// down: it no longer reads what others lend it.
class Communicator::Impl::Presence {
 public:
  explicit Presence(Impl& impl) : impl_(impl) {
    if (impl.gate_.enter()) return;
    impl.links_.port->stand_down();
    impl.refuse();
  }
  ~Presence() {
    if (!impl_.gate_.leave()) impl_.links_.port->stand_down();
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

 private:
  Impl& impl_;
};

Communicator::Impl::Impl(Exchange& exchange, Rank self, std::uint32_t ranks,
                         const CommunicatorSettings& settings)
    : Impl(std::make_shared<Fabric>(exchange, self, ranks, settings.fabric),
           everyone(self, ranks, settings.identity), exchange, settings) {}

Communicator::Impl::Impl(std::shared_ptr<Fabric> fabric, const Membership& membership,
                         Exchange& exchange, const CommunicatorSettings& settings)
    : self_(membership.self),
      ranks_(membership.size()),
      settings_(with_forecasts(settings)),
      fabric_(std::move(fabric)),
      members_(membership.members),
      links_(fabric_->link(membership, exchange,
                           {.digest = settings.choice_digest, .origin = settings.choice_origin})),
      executor_(*links_.port, *this, ranks_, least_slice),
      selector_(settings_.forecasts->get(party_on(settings, links_.party)), settings.rules),
      box_({.communicator = settings.identity,
            .name = settings.identity == CommunicatorSettings{}.identity ? "world" : "",
            .self = self_,
            .ranks = ranks_},
           settings.flight),
      done_(settings.completed) {
  MessageHost& host = *this;
  messages_ =
      std::make_unique<PointToPoint>(fabric_->messenger(), membership, host, box_.messages());
  if (ranks_ == 1) return;
  Participant& participant = *this;
  consensus_ = std::make_unique<Consensus>(fabric_->lifeline(),
                                           Consensus::Config{.communicator = settings.identity,
                                                             .self = self_.index(),
                                                             .members = members_,
                                                             .patience = settings.timeout},
                                           raised, participant);
}

Communicator::Impl::~Impl() {
  worker_.finish();
  messages_.reset();
  if (consensus_) consensus_->leave(calls_);
}

void Communicator::Impl::run(const Call& call) {
  const Entry entry(*this);
  if (call.shards) {
    check_shards(call);
    if (worker_.idle()) return perform_shards(call);
    return worker_.add([&] { perform_shards(call); }).wait();
  }
  const std::shared_ptr<const PreparedCall>& ready = prepared(call, checked(call), selector_);
  if (worker_.idle()) {
    perform(*ready, call);
  } else {
    worker_.add([&] { perform(*ready, call); }).wait();
  }
}

Work Communicator::Impl::start(const Call& call) {
  const Entry entry(*this);
  if (call.shards) return start_shards(call);
  const std::shared_ptr<const PreparedCall>& ready = prepared(call, checked(call), selector_);
  // What the caller lent for the time of this call only is not needed any more, or kept.
  Call kept = call;
  kept.counts = {};
  kept.output_counts = {};
  kept.options.algorithm = {};
  kept.options.schedule = nullptr;
  kept.options.shape = {};
  return worker_.add([this, ready, kept, site = FlightSite(call.options.site)]() mutable {
    kept.options.site = site.text();
    perform(*ready, kept);
  });
}

/// Checks all of the call but its buffers, unless an equal one has been checked before. Whether a
/// function of the caller's is empty is not in the key, and is checked each time.
PlanCache::Entry& Communicator::Impl::checked(const Call& call) {
  PlanCache::Entry* const found = plans_.find(call);
  if (found != nullptr && call.reduction.combine() == nullptr) return *found;
  const Caller caller{.self = self_, .ranks = ranks_};
  check(call, caller);
  if (found != nullptr) return *found;
  require_usable();
  check_counts(call, caller);
  return plans_.add(call, extent_of(call, self_, ranks_));
}

const std::shared_ptr<const PreparedCall>& Communicator::Impl::prepared(const Call& call,
                                                                        PlanCache::Entry& entry,
                                                                        Selector& selector) {
  require_usable();
  const Aliasing aliasing = check_buffers(call, entry.extent(), {.self = self_, .ranks = ranks_});
  std::shared_ptr<const PreparedCall>& ready = entry.prepared(aliasing);
  if (ready) return ready;
  try {
    ready =
        std::make_shared<const PreparedCall>(prepare({.call = call,
                                                      .method = method_for(call, selector),
                                                      .self = self_,
                                                      .ranks = ranks_,
                                                      .aliasing = aliasing,
                                                      .lanes = links_.lanes,
                                                      .hosts = selector.forecast().party().hosts}));
    return ready;
  } catch (const Error& error) {
    throw Error(error.code(), words(call, self_) + ": " + error.what());
  }
}

void Communicator::Impl::require_usable() {
  if (gate_.is_closed()) refuse();
}

// Work ------------------------------------------------------------------------------------------

void Communicator::Impl::perform(const PreparedCall& prepared, const Call& call) {
  const Presence presence(*this);
  ++calls_;
  const std::uint32_t current = tag(calls_, prepared.flight.signature);
  links_.port->begin(current, current);
  box_.recorder().begin(calls_, prepared.flight, call.options.site);
  Counters& counters = counters_of(static_cast<std::size_t>(call.collective));
  ++counters.calls;
  const Clock::time_point begun = settings_.log ? Clock::now() : Clock::time_point{};
  const auto log = [&](std::string_view error) {
    if (!settings_.log) return;
    settings_.log->write({.rank = rank(),
                          .ranks = ranks_,
                          .number = calls_,
                          .call = call,
                          .algorithm = prepared.flight.algorithm,
                          .bytes = prepared.flight.bytes,
                          .time = Clock::now() - begun,
                          .error = error});
  };
  const auto settled = [&](const Error& error) {
    Error cause = settle(error, "call " + std::to_string(calls_) + ", " + words(call, self_) +
                                    " by " + prepared.flight.algorithm);
    restore_input(call);
    log(error.what());
    return cause;
  };
  kept_.clear();
  try {
    if (call.options.keep_input) keep_input(call);
    run_parts(prepared, call, counters);
  } catch (const Error& error) {
    throw settled(error);
  } catch (const std::exception& error) {
    (void)settled(giving_up(error.what()));
    throw;
  } catch (...) {
    (void)settled(giving_up("something that is no std::exception"));
    throw;
  }
  box_.recorder().end();
  finish_outputs(prepared, call, ranks_);
  log("");
}

/// Only where the output would overwrite it.
void Communicator::Impl::keep_input(const Call& call) {
  const CallExtent extent = extent_of(call, self_, ranks_);
  const std::size_t bytes = extent.input * element_bytes_of(call);
  const auto* const input = static_cast<const std::byte*>(call.input);
  const auto* const output = static_cast<const std::byte*>(call.output);
  const std::size_t written = extent.output * element_bytes_of(call);
  if (bytes == 0 || written == 0 || input + bytes <= output || output + written <= input) return;
  kept_.assign(input, input + bytes);
}

/// Not before nobody reads it any more: somebody might take it for what was to be sent.
void Communicator::Impl::restore_input(const Call& call) {
  if (!kept_.empty()) std::memcpy(const_cast<void*>(call.input), kept_.data(), kept_.size());
}

void Communicator::Impl::run_parts(const PreparedCall& prepared, const Call& call,
                                   Counters& counters) {
  const Folding folding{.fold = prepared.fold,
                        .combine = call.reduction.combine().get(),
                        .element_bytes = prepared.element_bytes};
  Buffers buffers{.input = static_cast<const std::byte*>(call.input),
                  .output = static_cast<std::byte*>(call.output)};
  if (call.collective == Collective::barrier) {
    if (nothing_.size() < 2 * prepared.barrier_bytes) nothing_.resize(2 * prepared.barrier_bytes);
    buffers.input = nothing_.data();
    buffers.output = nothing_.data() + prepared.barrier_bytes;
  }
  if (prepared.scratch_bytes + prepared.spare_bytes > 0) {
    buffers.scratch = scratch(prepared.scratch_bytes + prepared.spare_bytes);
    buffers.spare = buffers.scratch + prepared.scratch_bytes;
  }
  set_pace(call.collective, call.options);
  const Clock::duration timeout = timeout_of(call.options);
  for (const PreparedCall::Part& part : prepared.parts) {
    Buffers shifted = buffers;
    for (std::uint64_t i = 0; i < part.repeats; ++i) {
      executor_.run(part.plan, shifted, folding, timeout, counters);
      shifted.input += part.stride;
      shifted.output += part.stride;
    }
  }
}

/// In which pieces data goes, and from which size on it is read where it stands.
void Communicator::Impl::set_pace(Collective collective, const CallOptions& options) {
  const ReachProfile& usual = selector_.forecast().reach_profile();
  const auto first = [](std::size_t said, std::size_t set, std::size_t otherwise) {
    return said > 0 ? said : set > 0 ? set : otherwise;
  };
  executor_.set_slice(
      whole_elements(first(options.slice_bytes, settings_.slice_bytes, usual.slice_bytes)));
  const std::size_t direct_from = first(options.direct_from, settings_.direct_from,
                                        usual.direct_from[static_cast<std::size_t>(collective)]);
  if (direct_from == direct_from_) return;
  links_.port->read_in_place_from(direct_from);
  direct_from_ = direct_from;
}

Clock::duration Communicator::Impl::timeout_of(const CallOptions& options) const {
  // Nobody waits longer, and the clock knows no time that is much later.
  constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 365);
  if (options.timeout.count() <= 0) return settings_.timeout;
  return std::min(options.timeout, for_ever);
}

std::uint64_t Communicator::Impl::larger_bytes(const Call& call) const {
  // Nobody knows what all ranks exchange.
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

Method Communicator::Impl::method_for(const Call& call, Selector& selector) const {
  const bool one_fold = needs_one_fold(call);
  if (call.options.algorithm.empty() && call.options.schedule == nullptr) {
    return selector
        .choose({.collective = call.collective,
                 .bytes = larger_bytes(call),
                 .root = Rank{call.root},
                 .counted = !call.counts.empty(),
                 .one_fold = one_fold})
        .method;
  }
  Method method = named_method(call, ranks_);
  const std::string refusal = refusal_of_folds(method, one_fold);
  if (!refusal.empty()) throw Error(ErrorCode::unsupported, refusal);
  return method;
}

Counters& Communicator::Impl::counters_of(std::size_t kind) {
  Counters& counters = counters_[kind];
  if (counters.peers.empty()) counters.peers.resize(ranks_);
  return counters;
}

Counters Communicator::Impl::counters(Collective collective) const {
  Counters counters = counters_[static_cast<std::size_t>(collective)];
  counters.peers.resize(ranks_);
  return counters;
}

std::byte* Communicator::Impl::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_.reset();
    scratch_ = scratch_memory(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_.get();
}

std::string Communicator::Impl::description() const {
  return in_plural(ranks_, "rank") + ", " + links_.description;
}

}  // namespace tutti
