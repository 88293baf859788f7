#include "api/group/fabric.hpp"

#include <algorithm>
#include <utility>

#include <tutti/error.hpp>

#include "api/group/listening.hpp"
#include "core/named_objects.hpp"
#include "lifeline/mesh.hpp"
#include "lifeline/thread_hub.hpp"
#include "transport/lone_port.hpp"
#include "transport/mixed_port.hpp"

namespace tutti {
namespace {

/// The context of point-to-point messages. No communicator has it.
constexpr std::uint64_t context_of_messages = 0;

/// Rank 0 creates it, and the other threads find it by its name.
std::shared_ptr<ThreadHub> shared_hub(Exchange& exchange, const Roster& roster) {
  std::shared_ptr<ThreadHub> hub;
  std::string own;
  if (roster.self() == 0) {
    hub = std::make_shared<ThreadHub>(roster.size());
    own = NamedObjects<ThreadHub>::publish(hub);
  }
  const std::string name = exchange.all_gather(own).front();
  if (!hub) hub = NamedObjects<ThreadHub>::find(name);
  // Until all have found it, rank 0 must not go on to an error that would destroy it.
  (void)exchange.all_gather("");
  if (hub) return hub;
  throw Error(ErrorCode::peer_lost, "rank 0 has given up while the communicator was created");
}

}  // namespace

Fabric::Fabric(Exchange& exchange, Rank self, std::uint32_t ranks, FabricSettings settings)
    : settings_(std::move(settings)), roster_(exchange, self, ranks, settings_) {
  if (ranks > 1) {
    open_lifeline(exchange);
    transports_.emplace(
        roster_,
        TransportSet::Opening{
            .exchange = exchange,
            .choice = settings_.transport,
            .has_ended = [this](std::uint32_t member) { return lifeline_->is_lost(member); },
            .listen =
                [&] {
                  return listen(exchange, roster_, settings_, Endpoint::parse("127.0.0.1:0"));
                },
            .closing_timeout = settings_.start_timeout});
  }
  Membership everyone = roster_.everyone();
  everyone.context = context_of_messages;
  messenger_.emplace(link(everyone, exchange, {}).port,
                     Messenger::Setting{.self = self, .members = ranks});
}

/// Within a host it needs no network.
void Fabric::open_lifeline(Exchange& exchange) {
  std::vector<std::string> names;
  std::vector<int> processes;
  for (std::uint32_t member = 0; member < roster_.size(); ++member) {
    const RankDescriptor& descriptor = roster_[member];
    const std::string process = "process " + std::to_string(descriptor.pid);
    processes.push_back(descriptor.host == roster_.own().host ? descriptor.pid : 0);
    names.push_back(roster_.is_one_process() ? "a thread of " + process
                                             : process + " on " + descriptor.name);
  }
  const std::uint32_t self = roster_.self();
  lifeline_ = std::make_shared<Lifeline>(self, std::move(names));
  if (roster_.is_one_process()) {
    lifeline_->attach(shared_hub(exchange, roster_)->connect(self, *lifeline_));
    return;
  }
  const Endpoint within_host =
      Endpoint::within_host("tutti/line/" + Secret::random().bytes.substr(0, 32));
  TransportRequest::Door door = listen(exchange, roster_, settings_, within_host);
  const Clock::time_point start_by =
      settings_.start_by.value_or(Clock::now() + settings_.start_timeout);
  lifeline_->attach(std::make_unique<Mesh>(Mesh::Place{.self = self,
                                                       .contacts = std::move(door.contacts),
                                                       .listener = std::move(door.listener),
                                                       .secret = std::move(door.secret),
                                                       .group = door.group,
                                                       .processes = std::move(processes),
                                                       .lost_after = settings_.lost_after},
                                           *lifeline_, start_by));
}

// Communicators ---------------------------------------------------------------------------------

PeerLinks Fabric::link(const Membership& membership, Exchange& exchange, const ChoiceBasis& basis) {
  LinkOffer own = offer(membership);
  own.set_basis(basis);
  const std::vector<LinkOffer> offers = own.all_gather(exchange);
  try {
    require_accepted(offers);
    require_same_basis(offers);
  } catch (const Error&) {
    withdraw(own);
    throw;
  }
  return link(membership, offers);
}

LinkOffer Fabric::offer(const Membership& membership) const {
  LinkOffer offer;
  for (std::size_t i = 0; transports_ && i < transports_->size(); ++i) {
    if (!transports_->serves(i, membership)) continue;
    try {
      offer.words[i] = transports_->transport(i).offer(membership);
    } catch (const Error&) {
      offer.refusal = LinkOffer::Refusal::no_room;
    }
  }
  return offer;
}

void Fabric::withdraw(const LinkOffer& own) const {
  for (std::size_t i = 0; transports_ && i < transports_->size(); ++i) {
    transports_->transport(i).withdraw(own.words[i]);
  }
}

PeerLinks Fabric::link(const Membership& membership, std::span<const LinkOffer> offers) const {
  PeerLinks links{.party = party(membership), .description = description(membership)};
  if (membership.size() == 1) {
    links.port = std::make_unique<LonePort>();
    return links;
  }
  std::vector<std::unique_ptr<Port>> ports;
  std::vector<std::uint8_t> port_of(membership.size());
  for (std::size_t i = 0; i < transports_->size(); ++i) {
    if (!transports_->serves(i, membership)) continue;
    std::vector<std::uint64_t> words;
    for (const LinkOffer& offer : offers) words.push_back(offer.words[i]);
    for (std::uint32_t r = 0; r < membership.size(); ++r) {
      const bool is_reached = transports_->index_for(membership.members[r]) == i;
      if (is_reached) port_of[r] = static_cast<std::uint8_t>(ports.size());
    }
    ports.push_back(transports_->transport(i).open(membership, words));
  }
  links.port = ports.size() == 1 ? std::move(ports.front())
                                 : std::make_unique<MixedPort>(std::move(ports), port_of);
  links.lanes = links.port->lanes();
  links.maps_heaps = transports_->maps_heaps(membership);
  return links;
}

Party Fabric::party(const Membership& membership) const {
  Party party{.ranks = membership.size(), .cores = 0};
  for (const auto& [host, load] : roster_.hosts_of(membership)) {
    party.cores += static_cast<std::uint32_t>(std::max<std::size_t>(load.cores.size(), 1));
    party.reach.crowded = party.reach.crowded || load.is_crowded();
  }
  party.hosts = roster_.shape_of_hosts(membership);
  party.reach.pairs = pairs(membership);
  return party;
}

Pairs Fabric::pairs(const Membership& membership) const {
  if (transports_ && transports_->medium_in(membership, false)) {
    return roster_.is_one_network() ? Pairs::loopback : Pairs::network;
  }
  return roster_.is_one_process() ? Pairs::process : Pairs::host;
}

std::string Fabric::description(const Membership& membership) const {
  if (membership.size() == 1) return "alone";
  const auto memory = transports_->medium_in(membership, true);
  auto network = transports_->medium_in(membership, false);
  if (!network) return *memory;
  if (settings_.secret.tls) *network += " with TLS";
  const std::size_t hosts = roster_.hosts_of(membership).size();
  if (!memory || hosts == membership.size()) return *network;
  return *memory + " within " + std::to_string(hosts) + " hosts, " + *network + " between them";
}

}  // namespace tutti
