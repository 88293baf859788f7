#include "api/communicator_impl.hpp"

#include <algorithm>
#include <cstring>

#include "api/call_check.hpp"
#include "api/pair_exchange.hpp"
#include "api/scratch_memory.hpp"

namespace tutti {
namespace {

/// Which call a piece of data belongs to: what all ranks must agree on, in few bits.
std::uint32_t tag(std::uint64_t number, std::uint32_t signature) {
  std::uint64_t hash = number << 32 | signature;
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
  return static_cast<std::uint32_t>(hash ^ (hash >> 33));
}

constexpr std::uint32_t pair_signature = 0x9A1B;

/// As the flight recorder has it.
FlightCall flight_call(const Communicator::Parcel& out, const Communicator::Parcel& in) {
  return {.kind = !in.peer    ? FlightKind::send
                  : !out.peer ? FlightKind::receive
                              : FlightKind::send_receive,
          .root = out.peer.value_or(0),
          .from = in.peer.value_or(0),
          .count = in.bytes,
          .bytes = out.bytes};
}

constexpr std::size_t least_slice = 1024;

/// No element is torn between two slices.
std::size_t whole_elements(std::size_t bytes) {
  constexpr std::size_t largest_element = 64;
  return std::max(least_slice, bytes / largest_element * largest_element);
}

std::shared_ptr<const Profile> profile_of(const CommunicatorSettings& settings) {
  if (settings.profile) return settings.profile;
  return {std::shared_ptr<const Profile>(), &built_in_profile()};
}

/// With what the user knows of the network.
Party party_on(const CommunicatorSettings& settings, Party party) {
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
    party.hosts = natural_shape(*settings.network);
  }
  return party;
}

}  // namespace

Communicator::Impl::Entry::Entry(Impl& impl) : impl_(impl) {
  if (!impl.busy_.exchange(true, std::memory_order_acquire)) return;
  throw Error(ErrorCode::invalid_argument,
              "rank " + std::to_string(impl.rank()) +
                  ": two threads call one communicator at once; give each thread a duplicate()");
}

/// In a call. A rank that is found, or finds itself, outside of any when there is a verdict stands
/// down: it no longer reads what others lend it.
class Communicator::Impl::Presence {
 public:
  explicit Presence(Impl& impl) : impl_(impl) {
    if (impl.gate_.enter()) return;
    impl.fabric_.transport().stand_down();
    impl.refuse();
  }
  ~Presence() {
    if (!impl_.gate_.leave()) impl_.fabric_.transport().stand_down();
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

 private:
  Impl& impl_;
};

Communicator::Impl::Impl(Exchange& exchange, Rank self, std::uint32_t ranks,
                         const CommunicatorSettings& settings)
    : self_(self),
      ranks_(ranks),
      settings_(settings),
      fabric_(exchange, self, ranks, settings.fabric, settings.kinship),
      executor_(fabric_.transport(), *this, ranks, least_slice),
      selector_(profile_of(settings), settings.rules, party_on(settings, fabric_.party())),
      sends_(ranks),
      receives_(ranks),
      box_({.communicator = settings.identity,
            .name = settings.identity == CommunicatorSettings{}.identity ? "world" : "",
            .self = self,
            .ranks = ranks},
           settings.flight),
      done_(settings.completed) {
  const Kinship& kinship = fabric_.kinship();
  if (ranks == 1) return;
  Participant& participant = *this;
  council_ = std::make_unique<Council>(kinship.lifeline,
                                       Council::Seat{.id = settings.identity,
                                                     .self = self.index(),
                                                     .members = kinship.members,
                                                     .patience = settings.timeout},
                                       raised, participant);
}

Communicator::Impl::~Impl() {
  worker_.finish();
  if (council_) council_->leave(calls_);
}

void Communicator::Impl::run(const Call& call) {
  const Entry entry(*this);
  check(call, {.self = self_, .ranks = ranks_});
  const CallExtent extent = extent_of(call, self_, ranks_);
  const std::shared_ptr<const PreparedCall>& ready = prepared(call, extent);
  if (worker_.idle()) {
    perform(*ready, call);
  } else {
    worker_.add([&] { perform(*ready, call); }).wait();
  }
}

Work Communicator::Impl::start(const Call& call) {
  const Entry entry(*this);
  check(call, {.self = self_, .ranks = ranks_});
  const CallExtent extent = extent_of(call, self_, ranks_);
  const std::shared_ptr<const PreparedCall>& ready = prepared(call, extent);
  // What the caller lent for the time of this call only is not needed any more, or kept.
  Call kept = call;
  kept.counts = {};
  kept.output_counts = {};
  kept.options.algorithm = {};
  kept.options.shape = {};
  return worker_.add([this, ready, kept, site = FlightSite(call.options.site)]() mutable {
    kept.options.site = site.text();
    perform(*ready, kept);
  });
}

void Communicator::Impl::run_pair(const Parcel& out, const Parcel& in, const CallOptions& options) {
  const Entry entry(*this);
  require_usable();
  check_pair(out, in, {.self = self_, .ranks = ranks_});
  if (worker_.idle()) {
    perform_pair(out, in, options);
  } else {
    worker_.add([&] { perform_pair(out, in, options); }).wait();
  }
}

Work Communicator::Impl::start_pair(const Parcel& out, const Parcel& in,
                                    const CallOptions& options) {
  const Entry entry(*this);
  require_usable();
  check_pair(out, in, {.self = self_, .ranks = ranks_});
  // What the caller lent for the time of this call only is not needed, or kept.
  CallOptions kept = options;
  kept.algorithm = {};
  return worker_.add([this, out, in, kept, site = FlightSite(options.site)]() mutable {
    kept.site = site.text();
    perform_pair(out, in, kept);
  });
}

const std::shared_ptr<const PreparedCall>& Communicator::Impl::prepared(const Call& call,
                                                                        const CallExtent& extent) {
  require_usable();
  const Aliasing aliasing = check_buffers(call, extent, {.self = self_, .ranks = ranks_});
  if (const auto* found = plans_.find(call, aliasing)) return *found;
  check_counts(call, {.self = self_, .ranks = ranks_});
  try {
    return plans_.add(call, aliasing,
                      prepare({.call = call,
                               .algorithm = algorithm_for(call),
                               .self = self_,
                               .ranks = ranks_,
                               .aliasing = aliasing,
                               .lanes = fabric_.lanes(),
                               .hosts = selector_.forecast().party().hosts}));
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
  fabric_.transport().begin(current, current);
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
                          .algorithm = prepared.algorithm->name,
                          .bytes = prepared.flight.bytes,
                          .time = Clock::now() - begun,
                          .error = error});
  };
  const auto settled = [&](const Error& error) {
    Error cause = settle(error, "call " + std::to_string(calls_) + ", " + words(call, self_) +
                                    " by " + std::string(prepared.algorithm->name));
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
  if (prepared.is_average && prepared.outputs > 0) {
    divide(call.dtype, call.output, prepared.outputs, ranks_);
  }
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
    buffers.input = nothing_.data();
    buffers.output = nothing_.data() + nothing_.size() / 2;
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

void Communicator::Impl::perform_pair(const Parcel& out, const Parcel& in,
                                      const CallOptions& options) {
  const Presence presence(*this);
  auto* const to = static_cast<std::byte*>(const_cast<void*>(in.data));
  if (out.peer == rank()) {
    if (out.bytes > 0) std::memcpy(to, out.data, out.bytes);
    return;
  }
  const auto as_rank = [](const Parcel& parcel) {
    return parcel.peer ? std::optional(Rank{*parcel.peer}) : std::nullopt;
  };
  const Plan plan = pair_plan(as_rank(out), out.bytes, as_rank(in), in.bytes);
  const auto pair_tag = [](std::uint32_t number, std::size_t bytes) {
    return tag(number, pair_signature + static_cast<std::uint32_t>(bytes));
  };
  const std::uint32_t sent = out.peer ? pair_tag(++sends_[*out.peer], out.bytes) : 0;
  const std::uint32_t received = in.peer ? pair_tag(++receives_[*in.peer], in.bytes) : 0;
  fabric_.transport().begin(sent, received);
  set_pace(Collective::alltoall, options);  // Which is made of pairs, too.
  Counters& counters = counters_of(pair_kind);
  ++counters.calls;
  box_.recorder().begin(calls_, flight_call(out, in), options.site);
  has_stalled_ = false;
  partners_.clear();
  if (out.peer) partners_.push_back(*out.peer);
  if (in.peer) partners_.push_back(*in.peer);
  try {
    executor_.run(plan, {.input = static_cast<const std::byte*>(out.data), .output = to}, {},
                  timeout_of(options), counters);
    partners_.clear();
    box_.recorder().end();
  } catch (const Error& error) {
    std::string what = "rank " + std::to_string(rank()) + ":";
    if (out.peer) {
      what += " send of " + in_plural(out.bytes, "byte") + " to rank " + std::to_string(*out.peer);
    }
    if (in.peer) {
      what += std::string(out.peer ? "," : "") + " receive of " + in_plural(in.bytes, "byte") +
              " from rank " + std::to_string(*in.peer);
    }
    throw settle(error, what);
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
  fabric_.transport().read_in_place_from(direct_from);
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

const Algorithm& Communicator::Impl::algorithm_for(const Call& call) {
  if (call.options.algorithm.empty()) {
    return *selector_
                .choose({.collective = call.collective,
                         .bytes = larger_bytes(call),
                         .root = Rank{call.root},
                         .counted = !call.counts.empty()})
                .algorithm;
  }
  const Algorithm& asked = algorithm(call.options.algorithm);
  if (asked.collective != call.collective) {
    throw Error(ErrorCode::invalid_argument,
                std::string(asked.name) + " is for another collective");
  }
  if (call.collective == Collective::alltoall && !call.counts.empty() &&
      asked.name == "alltoall/bruck") {
    throw Error(ErrorCode::unsupported,
                "alltoall/bruck passes on blocks of other ranks, whose counts nobody else knows; "
                "take alltoall/mesh or alltoall/pairwise");
  }
  return asked;
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
  return in_plural(ranks_, "rank") + ", " + fabric_.description();
}

}  // namespace tutti
