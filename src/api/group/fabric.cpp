#include "api/group/fabric.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include <tutti/error.hpp>

#include "api/group/rank_descriptor.hpp"
#include "api/group/surroundings.hpp"
#include "core/json.hpp"
#include "core/shortened.hpp"
#include "lifeline/mesh.hpp"
#include "lifeline/thread_hub.hpp"
#include "transport/lone_port.hpp"
#include "transport/mixed_port.hpp"

namespace tutti {
namespace {

/// A rank with a core of its own can afford to spin; others must let those run whom they wait for.
/// To look at a socket costs a hundred times as much as to look at memory.
Patience patience_for(std::string_view transport, bool roomy) {
  if (transport == "tcp") {
    return roomy ? Patience{.spins = 100, .yields = 1000} : Patience{.spins = 2, .yields = 20};
  }
  return roomy ? Patience{.spins = 5000, .yields = 100} : Patience{.spins = 0, .yields = 200};
}

/// The ranks of a host, and the cores that they may run on.
struct HostLoad {
  std::size_t ranks = 0;
  std::set<int> cores{};

  [[nodiscard]] bool is_crowded() const { return ranks > std::max<std::size_t>(cores.size(), 1); }
};

/// What a rank tells the others before a communicator can be linked: a word for each transport,
/// whether it has no room for another communicator, and by what it chooses algorithms.
struct Offer {
  static constexpr std::size_t most_transports = 4;
  static constexpr std::size_t most_origin = 128;
  std::array<std::uint64_t, most_transports> words{};
  enum class Refusal : std::uint64_t { none, no_room, bad_options } refusal = Refusal::none;
  std::uint64_t choice_digest = 0;
  std::array<char, most_origin> choice_origin{};

  [[nodiscard]] std::string text() const {
    return {reinterpret_cast<const char*>(this), sizeof *this};
  }
  [[nodiscard]] std::string origin() const {
    return {choice_origin.data(), strnlen(choice_origin.data(), most_origin)};
  }
};
static_assert(sizeof(Offer) == Fabric::offer_bytes);

/// Which no communicator has.
constexpr std::uint64_t context_of_messages = 0;

bool is_memory(std::string_view transport) { return transport != "tcp"; }

[[noreturn]] void refuse_memory(const std::string& why) {
  throw Error(ErrorCode::unsupported, "the ranks cannot all share memory: " + why +
                                          "; unset TUTTI_TRANSPORT to use TCP between them");
}

}  // namespace

class Fabric::Parts {
 public:
  Parts(Exchange& exchange, Rank self, std::uint32_t ranks, FabricSettings settings)
      : settings_(std::move(settings)), self_(self.index()), ranks_(ranks) {
    meet(exchange);
    if (ranks > 1) {
      open_lifeline(exchange);
      open_transports(exchange);
    }
    Membership everyone = all();
    everyone.context = context_of_messages;
    messenger_.emplace(link(everyone, exchange, {}).port,
                       Messenger::Setting{.self = self_, .members = ranks_});
  }

  [[nodiscard]] Messenger& messenger() { return *messenger_; }
  [[nodiscard]] const std::shared_ptr<Lifeline>& lifeline() const { return lifeline_; }
  [[nodiscard]] const FabricSettings& settings() const { return settings_; }

  [[nodiscard]] PeerLinks link(const Membership& membership, Exchange& exchange,
                               const ChoiceBasis& basis) {
    Offer own = offer(membership);
    own.choice_digest = basis.digest;
    const std::string origin = shortened(basis.origin, Offer::most_origin);
    std::copy(origin.begin(), origin.end(), own.choice_origin.begin());
    std::vector<Offer> offers;
    for (const std::string& each : exchange.all_gather(own.text())) {
      if (each.size() != sizeof own) {
        throw Error(ErrorCode::mismatch,
                    "ranks do not understand each other: do all have the same version of tutti?");
      }
      std::memcpy(&offers.emplace_back(), each.data(), sizeof own);
    }
    return link(membership, offers);
  }

 private:
  [[nodiscard]] Offer offer(const Membership& membership) {
    Offer offer;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (!serves(i, membership)) continue;
      try {
        offer.words[i] = ways_[i].transport->offer(membership);
      } catch (const Error&) {
        offer.refusal = Offer::Refusal::no_room;
      }
    }
    return offer;
  }

  [[nodiscard]] PeerLinks link(const Membership& membership, std::span<const Offer> offers) {
    require_accepted(membership, offers);
    require_same_choices(membership, offers);
    PeerLinks links{.party = party(membership), .description = description(membership)};
    if (membership.size() == 1) {
      links.port = std::make_unique<LonePort>();
      return links;
    }
    std::vector<std::unique_ptr<Port>> ports;
    std::vector<std::uint8_t> ways(membership.size());
    bool has_lanes = false;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (!serves(i, membership)) continue;
      std::vector<std::uint64_t> words;
      for (const Offer& offer : offers) words.push_back(offer.words[i]);
      for (std::uint32_t r = 0; r < membership.size(); ++r) {
        if (way_to(membership.members[r]) == i) ways[r] = static_cast<std::uint8_t>(ports.size());
      }
      ports.push_back(ways_[i].transport->open(membership, words));
      has_lanes |= !is_memory(ways_[i].row->name);
    }
    links.port = ports.size() == 1 ? std::move(ports.front())
                                   : std::make_unique<MixedPort>(std::move(ports), ways);
    if (!has_lanes) return links;
    for (std::uint32_t r = 0; r < membership.size(); ++r) {
      const bool is_self = r == membership.self.index();
      links.lanes.push_back(is_self ? 0 : links.port->lane(Rank{r}));
    }
    return links;
  }

  struct OpenWay {
    const TransportRow* row;
    std::unique_ptr<Transport> transport;
  };

  // Who is where --------------------------------------------------------------------------------

  /// Everyone learns where everyone is.
  void meet(Exchange& exchange) {
    RankDescriptor own = own_descriptor(settings_);
    if (ranks_ > 1) own.trouble = trouble_with_descriptors(ranks_);
    for (const std::string& text : exchange.all_gather(write(own))) {
      descriptors_.push_back(read_rank_descriptor(text));
    }
    if (descriptors_.size() != ranks_) {
      throw Error(ErrorCode::invalid_argument,
                  "rank " + std::to_string(self_) + ": the exchange gave " +
                      std::to_string(descriptors_.size()) + " texts for " + std::to_string(ranks_) +
                      " ranks: it must give one for each, in their order");
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      const RankDescriptor& descriptor = descriptors_[r];
      if (descriptor.way != own.way) {
        throw Error(ErrorCode::mismatch, "rank " + std::to_string(r) +
                                             " was told another TUTTI_TRANSPORT than rank " +
                                             std::to_string(self_) + ": give all ranks the same");
      }
      members_.push_back({.host = descriptor.host,
                          .network = descriptor.network,
                          .name = descriptor.name,
                          .pid = descriptor.pid,
                          .heap_fd = descriptor.heap_fd});
    }
    one_network_ = std::all_of(
        descriptors_.begin(), descriptors_.end(),
        [&](const RankDescriptor& descriptor) { return descriptor.network == own.network; });
    is_one_process_ = std::all_of(descriptors_.begin(), descriptors_.end(),
                                  [&](const RankDescriptor& descriptor) {
                                    return descriptor.pid == own.pid && descriptor.host == own.host;
                                  });
    for (Whereabouts& member : members_) member.is_one_process = is_one_process_;
    if (!is_one_process_) require_no_trouble();
  }

  /// All ranks learn of it at once, instead of waiting for the one that fails.
  void require_no_trouble() const {
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (descriptors_[r].trouble.empty()) continue;
      throw Error(ErrorCode::unsupported, "rank " + std::to_string(r) + " on " +
                                              descriptors_[r].name + ": " +
                                              descriptors_[r].trouble);
    }
  }

  [[nodiscard]] std::map<std::string, HostLoad> hosts_of(const Membership& membership) const {
    std::map<std::string, HostLoad> hosts;
    for (const std::uint32_t member : membership.members) {
      const RankDescriptor& descriptor = descriptors_[member];
      HostLoad& load = hosts[descriptor.host];
      ++load.ranks;
      load.cores.insert(descriptor.cores.begin(), descriptor.cores.end());
    }
    return hosts;
  }

  [[nodiscard]] Membership all() const {
    Membership membership{.self = Rank{self_}};
    for (std::uint32_t r = 0; r < ranks_; ++r) membership.members.push_back(r);
    return membership;
  }

  [[nodiscard]] Party party(const Membership& membership) const {
    const auto hosts = hosts_of(membership);
    Party party{.ranks = membership.size(), .cores = 0};
    for (const auto& [host, load] : hosts) {
      party.cores += static_cast<std::uint32_t>(std::max<std::size_t>(load.cores.size(), 1));
      party.reach.crowded = party.reach.crowded || load.is_crowded();
    }
    party.hosts = shape_of_hosts(membership, static_cast<std::uint32_t>(hosts.size()));
    party.reach.pairs = pairs(membership);
    return party;
  }

  [[nodiscard]] Shape shape_of_hosts(const Membership& membership, std::uint32_t hosts) const {
    const std::uint32_t ranks = membership.size();
    if (ranks % hosts != 0) return {};
    const std::uint32_t each = ranks / hosts;
    const auto host = [&](std::uint32_t rank) {
      return descriptors_[membership.members[rank]].host;
    };
    for (std::uint32_t r = 0; r < ranks; ++r) {
      if (host(r) != host(r - r % each)) return {};
    }
    return {.dimensions = {each, hosts}};
  }

  [[nodiscard]] Pairs pairs(const Membership& membership) const {
    if (needs_network(membership)) return one_network_ ? Pairs::loopback : Pairs::network;
    return is_one_process_ ? Pairs::process : Pairs::host;
  }

  [[nodiscard]] std::string description(const Membership& membership) const {
    if (membership.size() == 1) return "alone";
    std::string tcp = settings_.secret.tls ? "TCP with TLS" : "TCP";
    if (!needs_network(membership)) {
      return is_one_process_ ? "threads of one process" : "shared memory";
    }
    const std::size_t hosts = hosts_of(membership).size();
    const bool shares_memory = hosts < membership.size() && any_memory(membership);
    if (!shares_memory) return tcp;
    return "shared memory within " + std::to_string(hosts) + " hosts, " + tcp + " between them";
  }

  // Ways ----------------------------------------------------------------------------------------

  [[nodiscard]] bool is_wanted(const TransportRow& row) const {
    return settings_.way == Way::automatic || (settings_.way == Way::memory) == is_memory(row.name);
  }

  /// Every rank opens the same transports in the same order, so that the exchange goes on alike. If
  /// one cannot be opened somewhere, nobody uses it, and the next takes its place.
  void open_transports(Exchange& exchange) {
    std::vector<const TransportRow*> usable;
    for (const TransportRow& row : transports()) {
      if (is_wanted(row)) usable.push_back(&row);
    }
    std::string trouble;
    while (!try_to_open(exchange, usable, trouble)) {
      if (usable.empty()) refuse_memory(trouble);
    }
  }

  using Rows = std::span<const TransportRow* const>;

  /// By which of the rows two members are joined.
  [[nodiscard]] std::optional<std::size_t> way_between(Rows rows, std::uint32_t a,
                                                       std::uint32_t b) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i]->reaches(members_[a], members_[b])) return i;
    }
    return std::nullopt;
  }

  /// Pairs that stand for all pairs of some members: those of one host are alike.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> kinds_of_pairs(
      std::span<const std::uint32_t> some) const {
    std::map<std::pair<std::string, bool>, std::vector<std::uint32_t>> sites;
    for (const std::uint32_t member : some) {
      std::vector<std::uint32_t>& site =
          sites[{members_[member].host, members_[member].heap_fd >= 0}];
      if (site.size() < 2) site.push_back(member);
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (auto a = sites.begin(); a != sites.end(); ++a) {
      if (a->second.size() > 1) pairs.emplace_back(a->second[0], a->second[1]);
      for (auto b = std::next(a); b != sites.end(); ++b) {
        pairs.emplace_back(a->second[0], b->second[0]);
      }
    }
    return pairs;
  }

  /// False if one of them could not be opened, which is then struck from the list.
  [[nodiscard]] bool try_to_open(Exchange& exchange, std::vector<const TransportRow*>& rows,
                                 std::string& trouble) {
    std::vector<bool> is_used(rows.size());
    for (const auto& [a, b] : kinds_of_pairs(all().members)) {
      const auto way = way_between(rows, a, b);
      if (!way) refuse_memory(trouble.empty() ? "they are on several hosts" : trouble);
      is_used[*way] = true;
    }
    const auto many = std::count(is_used.begin(), is_used.end(), true);
    const std::shared_ptr<Doorbells> doorbells = many > 1 ? std::make_shared<Doorbells>() : nullptr;
    ways_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!is_used[i]) continue;
      TransportRequest request{
          .exchange = exchange,
          .self = self_,
          .members = members_,
          .group = {},
          .patience = patience_for(rows[i]->name, is_roomy()),
          .doorbells = doorbells,
          .has_ended = [this](std::uint32_t member) { return lifeline_->is_lost(member); },
          .open_door = [&] { return open_door(exchange, Endpoint::parse("127.0.0.1:0")); }};
      for (std::uint32_t member = 0; member < ranks_; ++member) {
        const auto way = way_between(rows, self_, member);
        if (member == self_ || way == i) request.group.push_back(member);
      }
      trouble.clear();
      std::unique_ptr<Transport> transport = rows[i]->open(request, trouble);
      if (!trouble.empty()) {
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
        return false;
      }
      ways_.push_back({.row = rows[i], .transport = std::move(transport)});
    }
    ways_to_.resize(ranks_);
    for (std::uint32_t member = 0; member < ranks_; ++member) {
      const auto way = way_between(rows, self_, member);
      const auto found = std::find_if(ways_.begin(), ways_.end(),
                                      [&](const OpenWay& each) { return each.row == rows[*way]; });
      ways_to_[member] = static_cast<std::size_t>(found - ways_.begin());
    }
    return true;
  }

  [[nodiscard]] bool is_roomy() const {
    return !hosts_of(all()).at(descriptors_[self_].host).is_crowded();
  }

  /// By which of ways_ this rank reaches a member.
  [[nodiscard]] std::size_t way_to(std::uint32_t member) const { return ways_to_[member]; }

  /// Whether this rank needs a way for the communicator.
  [[nodiscard]] bool serves(std::size_t way, const Membership& membership) const {
    return std::any_of(
        membership.members.begin(), membership.members.end(),
        [&](std::uint32_t member) { return member != self_ && way_to(member) == way; });
  }

  /// Whether some pair of ranks, anywhere, is joined by the network: the same on all ranks.
  [[nodiscard]] bool needs_network(const Membership& membership) const {
    return any_pair(membership, false);
  }
  [[nodiscard]] bool any_memory(const Membership& membership) const {
    return any_pair(membership, true);
  }
  [[nodiscard]] bool any_pair(const Membership& membership, bool by_memory) const {
    std::vector<const TransportRow*> rows;
    for (const OpenWay& way : ways_) rows.push_back(way.row);
    const auto pairs = kinds_of_pairs(membership.members);
    return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      const auto way = way_between(rows, pair.first, pair.second);
      return way && is_memory(rows[*way]->name) == by_memory;
    });
  }

  void require_accepted(const Membership& membership, std::span<const Offer> offers) {
    const auto refused = std::find_if(offers.begin(), offers.end(), [](const Offer& offer) {
      return offer.refusal != Offer::Refusal::none;
    });
    if (refused == offers.end()) return;
    withdraw(offers[membership.self.index()]);
    const std::string rank = "rank " + std::to_string(refused - offers.begin());
    if (refused->refusal == Offer::Refusal::bad_options) {
      throw Error(ErrorCode::invalid_argument,
                  rank + " was given options for the new communicator that it cannot take");
    }
    throw Error(ErrorCode::unsupported,
                rank +
                    " has no shared memory left for another communicator: destroy those that are "
                    "not needed any more");
  }

  /// Ranks that chose by different figures would each wait for messages that nobody sends.
  void require_same_choices(const Membership& membership, std::span<const Offer> offers) {
    const auto other = std::find_if(offers.begin(), offers.end(), [&](const Offer& offer) {
      return offer.choice_digest != offers.front().choice_digest;
    });
    if (other == offers.end()) return;
    withdraw(offers[membership.self.index()]);
    throw Error(ErrorCode::mismatch,
                "ranks choose algorithms differently: rank 0 by " + offers.front().origin() +
                    ", and rank " + std::to_string(other - offers.begin()) + " by " +
                    other->origin() +
                    "; give all ranks the same profile, rules (TUTTI_ALGO, TUTTI_RULES), network "
                    "and options");
  }

  void withdraw(const Offer& own) {
    for (std::size_t i = 0; i < ways_.size(); ++i) ways_[i].transport->withdraw(own.words[i]);
  }

  // Doors ---------------------------------------------------------------------------------------

  /// Within one host nobody else need be able to connect. To another the loopback address means
  /// nothing, so it is never told.
  [[nodiscard]] TransportRequest::Door open_door(Exchange& exchange, const Endpoint& within_host) {
    TransportRequest::Door door;
    std::vector<Endpoint> addresses;
    if (one_network_) {
      door.listener = listen_on(within_host, settings_.ports);
      addresses = {within_host};
    } else {
      if (settings_.secret.bytes.empty() && !settings_.trusts_exchange) {
        throw Error(ErrorCode::invalid_argument,
                    "ranks on several hosts need a secret by which to know each other: set "
                    "TUTTI_SECRET to the same long random text for all of them");
      }
      addresses = own_addresses(settings_.interfaces);
      // Ranks that cannot tell may all the same be on one network: then loopback is tried last.
      if (is_known_network(descriptors_[self_].network)) {
        std::erase_if(addresses, [](const Endpoint& each) { return each.is_loopback(); });
      }
      if (addresses.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "rank " + std::to_string(self_) + " on " + descriptors_[self_].name +
                        " has no network address that other hosts could reach: bring an interface "
                        "up, or look at TUTTI_SOCKET_IFNAME");
      }
      door.listener = listen_on_all(addresses, settings_.ports);
    }
    const Endpoint bound = bound_to(door.listener);
    Json endpoints = Json::array();
    for (const Endpoint& each : addresses) {
      endpoints.push_back(each.family() == AF_UNIX ? each.text()
                                                   : each.with_port(bound.port()).text());
    }
    agree_on_name(exchange, door);
    for (const std::string& text : exchange.all_gather(endpoints.dump())) {
      Contact contact{.host = descriptors_[door.contacts.size()].name, .endpoints = {}};
      for (const Json& each : Json::parse(text)) {
        contact.endpoints.push_back(Endpoint::parse(each.get<std::string>()));
      }
      door.contacts.push_back(std::move(contact));
    }
    return door;
  }

  /// A name that no other fabric has: rank 0 makes it up. And, where the user has given no secret,
  /// one as well, by which others are kept out.
  void agree_on_name(Exchange& exchange, TransportRequest::Door& door) const {
    constexpr std::size_t name_length = 16;
    const std::string own =
        self_ == 0 ? Secret::random().bytes.substr(0, name_length) + Secret::random().bytes : "";
    const std::string made = exchange.all_gather(own).front();
    door.group = made.substr(0, name_length);
    door.secret = settings_.secret;
    if (door.secret.bytes.empty()) door.secret.bytes = made.substr(name_length);
  }

  /// By which ranks notice who is gone. Within a host it needs no network.
  void open_lifeline(Exchange& exchange) {
    std::vector<std::string> whereabouts;
    std::vector<int> processes;
    for (const RankDescriptor& descriptor : descriptors_) {
      processes.push_back(descriptor.host == descriptors_[self_].host ? descriptor.pid : 0);
      whereabouts.push_back(
          is_one_process_ ? "a thread of process " + std::to_string(descriptor.pid)
                          : "process " + std::to_string(descriptor.pid) + " on " + descriptor.name);
    }
    lifeline_ = std::make_shared<Lifeline>(self_, std::move(whereabouts));
    if (is_one_process_) {
      lifeline_->attach(shared_hub(exchange)->post(self_, *lifeline_));
      return;
    }
    TransportRequest::Door door = open_door(
        exchange, Endpoint::within_host("tutti/line/" + Secret::random().bytes.substr(0, 32)));
    lifeline_->attach(std::make_unique<Mesh>(Mesh::Place{.self = self_,
                                                         .contacts = std::move(door.contacts),
                                                         .listener = std::move(door.listener),
                                                         .secret = std::move(door.secret),
                                                         .group = door.group,
                                                         .processes = std::move(processes),
                                                         .lost_after = settings_.lost_after},
                                             *lifeline_, Clock::now() + settings_.start_timeout));
  }

  /// The first thread makes it and tells the others its address; when all have it, nobody needs
  /// the address any more.
  [[nodiscard]] std::shared_ptr<ThreadHub> shared_hub(Exchange& exchange) const {
    std::shared_ptr<ThreadHub> hub;
    if (self_ == 0) hub = std::make_shared<ThreadHub>(ranks_);
    const std::string own =
        self_ == 0 ? std::to_string(reinterpret_cast<std::uintptr_t>(&hub)) : std::string();
    const std::uintptr_t address = std::stoull(exchange.all_gather(own).front());
    // NOLINTNEXTLINE(performance-no-int-to-ptr): threads tell each other an address by a
    // descriptor.
    if (self_ != 0) hub = *reinterpret_cast<const std::shared_ptr<ThreadHub>*>(address);
    (void)exchange.all_gather("");
    return hub;
  }

  FabricSettings settings_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::vector<RankDescriptor> descriptors_;
  std::vector<Whereabouts> members_;
  bool one_network_ = true;  // Everyone is reached by the loopback interface.
  bool is_one_process_ = false;
  std::shared_ptr<Lifeline> lifeline_;
  std::vector<OpenWay> ways_;
  std::vector<std::size_t> ways_to_;  // By member: which of ways_.
  std::optional<Messenger> messenger_;
};

Fabric::Fabric(Exchange& exchange, Rank self, std::uint32_t ranks, const FabricSettings& settings)
    : parts_(std::make_unique<Parts>(exchange, self, ranks, settings)) {}

Fabric::~Fabric() = default;

std::string Fabric::refusal() { return Offer{.refusal = Offer::Refusal::bad_options}.text(); }

PeerLinks Fabric::link(const Membership& membership, Exchange& exchange, const ChoiceBasis& basis) {
  return parts_->link(membership, exchange, basis);
}
Messenger& Fabric::messenger() { return parts_->messenger(); }
const std::shared_ptr<Lifeline>& Fabric::lifeline() const { return parts_->lifeline(); }
const FabricSettings& Fabric::settings() const { return parts_->settings(); }

}  // namespace tutti
