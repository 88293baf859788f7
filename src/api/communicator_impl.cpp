#include "api/communicator_impl.hpp"

#include <algorithm>
#include <numeric>

#include "api/call/kept_call.hpp"
#include "core/quantity.hpp"
#include "select/natural_shapes.hpp"

namespace tutti {
namespace {

CommunicatorSettings with_forecasts(CommunicatorSettings settings) {
  if (!settings.forecasts) settings.forecasts = std::make_shared<ForecastCache>(settings.profile);
  return settings;
}

/// Adds what the user told about the network.
Party party_on(const CommunicatorSettings& settings, Party party) {
  if (!settings.shape.empty()) party.hosts = settings.shape;
  if (!settings.network || party.ranks == 1) return party;
  party.network = settings.network;
  party.places = settings.places;
  const std::uint32_t known = settings.network->rank_count();
  party.slice_bytes = settings.slice_bytes;
  if (settings.places.empty()) {
    if (known != party.ranks) {
      throw Error(ErrorCode::invalid_argument, "TUTTI_TOPO_FILE describes a network of " +
                                                   in_plural(known, "rank") + ", and here are " +
                                                   std::to_string(party.ranks));
    }
  }
  party.shapes = settings.shape.empty() ? natural_shapes(*settings.network, party.places)
                                        : std::vector<Shape>{settings.shape};
  if (settings.shape.empty() && party.places.empty()) {
    party.hosts = party.shapes.empty() ? Shape{} : party.shapes.front();
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

Communicator::Impl::Impl(CheckedExchange exchange, Rank self, std::uint32_t ranks,
                         const CommunicatorSettings& settings)
    : Impl(std::make_shared<Fabric>(exchange, self, ranks, settings.fabric),
           everyone(self, ranks, settings.identity), exchange, settings) {}

Communicator::Impl::Impl(std::shared_ptr<Fabric> fabric, const Membership& membership,
                         Exchange& exchange, const CommunicatorSettings& settings)
    : membership_(membership),
      settings_(with_forecasts(settings)),
      fabric_(std::move(fabric)),
      links_(fabric_->link(membership, exchange,
                           {.digest = settings.choice_digest, .origin = settings.choice_origin})),
      box_({.communicator = settings.identity,
            .name = settings.identity == CommunicatorSettings{}.identity ? "world" : "",
            .self = membership.self,
            .ranks = membership.size()},
           settings.flight),
      health_({.fabric = fabric_,
               .membership = membership_,
               .port = *links_.port,
               .box = box_,
               .messages = running_messages_,
               .timeout = settings.timeout,
               .completed = settings.completed,
               .while_waiting = settings.while_waiting}),
      runner_({.self = membership.self,
               .ranks = membership.size(),
               .links = links_,
               .selector = Selector(settings_.forecasts->get(party_on(settings, links_.party)),
                                    settings.rules),
               .health = health_,
               .box = box_,
               .log = settings.log,
               .direct_from = settings.direct_from,
               .adopt_from = settings.adopt_from,
               .slice_bytes = settings.slice_bytes}),
      messages_(std::in_place, fabric_->messenger(), membership_, health_, running_messages_,
                box_.messages()) {}

Communicator::Impl::~Impl() {
  *handle_ = nullptr;
  worker_.finish();
  const std::map<std::uint32_t, std::uint64_t> sent = messages_->finish();
  messages_.reset();
  health_.leave(sent);
}

void Communicator::Impl::require_here() const {
  if (origin_.is_here()) return;
  throw Error(ErrorCode::aborted,
              "rank " + std::to_string(rank()) +
                  ": this process was forked from the rank and inherited its communicator, which "
                  "does not survive fork(): make the call in the parent, or create a communicator "
                  "in the child");
}

// Collectives -----------------------------------------------------------------------------------

template <class Perform>
void Communicator::Impl::run_in_turn(const Perform& perform) {
  if (worker_.idle()) return perform();
  worker_.add(perform).wait();
}

void Communicator::Impl::run(const Call& call) {
  const Entry entry(*this);
  if (call.shards) {
    runner_.check_shards(call);
    return run_in_turn([&] { runner_.perform_shards(call); });
  }
  const CallRunner::Compiled& compiled = runner_.compile(call);
  run_in_turn([&] { runner_.perform(*compiled, call); });
}

Work Communicator::Impl::start(const Call& call) {
  const Entry entry(*this);
  if (call.shards) {
    runner_.check_shards(call);
    return worker_.add([this, kept = std::make_shared<const KeptCall>(call)] {
      runner_.perform_shards(kept->call);
    });
  }
  const CallRunner::Compiled& compiled = runner_.compile(call);
  if (!call.counts.empty()) {
    return worker_.add([this, compiled, kept = std::make_shared<const KeptCall>(call)] {
      runner_.perform(*compiled, kept->call);
    });
  }
  // Texts of the caller are used up by now, or copied.
  Call kept = call;
  kept.options.algorithm = {};
  kept.options.schedule = nullptr;
  kept.options.shape = {};
  return worker_.add([this, compiled, kept, site = FlightSite(call.options.site)]() mutable {
    kept.options.site = site.text();
    runner_.perform(*compiled, kept);
  });
}

PreparedCall Communicator::Impl::prepare(const Call& call) {
  const Entry entry(*this);
  CallRunner::Compiled compiled;
  if (call.shards) {
    runner_.check_shards(call);
  } else {
    compiled = runner_.compile(call);
  }
  return PreparedCall(std::make_shared<PreparedCall::State>(handle_, call, std::move(compiled)));
}

void Communicator::Impl::run(const PreparedCall::State& prepared) {
  const Entry entry(*this);
  health_.require_usable();
  run_in_turn([&] { perform(prepared); });
}

Work Communicator::Impl::start(const std::shared_ptr<PreparedCall::State>& prepared) {
  const Entry entry(*this);
  health_.require_usable();
  return worker_.add([this, prepared] { perform(*prepared); });
}

void Communicator::Impl::perform(const PreparedCall::State& prepared) {
  if (prepared.compiled() == nullptr) return runner_.perform_shards(prepared.call());
  runner_.perform(*prepared.compiled(), prepared.call());
}

void Communicator::Impl::finish_started() {
  if (!worker_.idle()) worker_.add([] {}).wait();
}

std::string Communicator::Impl::description() const {
  return in_plural(size(), "rank") + ", " + links_.description;
}

// Derived communicators -------------------------------------------------------------------------

Membership Communicator::Impl::membership_of(const std::vector<std::uint32_t>& members,
                                             std::uint64_t identity) const {
  const auto place = std::find(members.begin(), members.end(), rank());
  Membership membership{.context = identity,
                        .self = Rank{static_cast<std::uint32_t>(place - members.begin())},
                        .members = {}};
  for (const std::uint32_t member : members) {
    membership.members.push_back(membership_.members[member]);
  }
  return membership;
}

CommunicatorSettings Communicator::Impl::settings_for(const std::vector<std::uint32_t>& members,
                                                      std::uint64_t identity) const {
  CommunicatorSettings theirs = settings_;
  theirs.identity = identity;
  theirs.completed = health_.completed();
  if (members.size() < size()) theirs.shape = {};
  const bool is_other = !std::ranges::is_sorted(members) || members.size() < size();
  if (theirs.network && is_other) {
    theirs.places.clear();
    for (const std::uint32_t member : members) {
      theirs.places.push_back(settings_.places.empty() ? member : settings_.places[member]);
    }
  }
  return theirs;
}

}  // namespace tutti
