#include "api/fabric.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include <tutti/error.hpp>

#include "api/card.hpp"
#include "api/surroundings.hpp"
#include "lifeline/mesh.hpp"
#include "lifeline/thread_hub.hpp"
#include "transport/inproc/thread_memory.hpp"
#include "transport/inproc/thread_view.hpp"
#include "transport/memory/memory_transport.hpp"
#include "transport/mixed_transport.hpp"
#include "transport/shm/heap_view.hpp"
#include "transport/shm/segment.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// Small enough that an idle communicator stays below 2 MiB for each rank, large enough that a slot
/// takes a slice.
constexpr std::uint32_t outbox_bytes = 1U << 20;
constexpr std::uint32_t largest_slot = 1U << 16;
constexpr std::uint32_t least_slots = 16;

Commons::Outbox outbox_for(std::uint32_t ranks) {
  const std::uint32_t slots = std::max(least_slots, ranks + 4);
  const std::uint32_t share = outbox_bytes / slots / cache_line * cache_line;
  return {.slots = slots, .slot_bytes = std::clamp<std::uint32_t>(share, 1024, largest_slot)};
}

/// A rank with a core of its own can afford to spin; others must let those run whom they wait for.
/// To look at a socket costs a hundred times as much as to look at memory.
Patience patience_for(bool roomy) {
  return roomy ? Patience{.spins = 5000, .yields = 100} : Patience{.spins = 0, .yields = 200};
}
Patience network_patience_for(bool roomy) {
  return roomy ? Patience{.spins = 100, .yields = 1000} : Patience{.spins = 2, .yields = 20};
}
/// Nobody who writes into memory wakes a rank that sleeps on its sockets.
constexpr std::chrono::milliseconds nap_beside_memory{1};

/// The ranks of a host, and the cores that they may run on.
struct HostLoad {
  std::size_t ranks = 0;
  std::set<int> cores{};

  [[nodiscard]] bool is_crowded() const { return ranks > std::max<std::size_t>(cores.size(), 1); }
};

}  // namespace

class Fabric::Parts {
 public:
  Parts(Exchange& exchange, Rank self, std::uint32_t ranks, const FabricSettings& settings,
        Kinship kinship)
      : settings_(settings), kinship_(std::move(kinship)), self_(self), ranks_(ranks) {
    meet(exchange);
    if (ranks > 1 && !kinship_.lifeline) open_lifeline(exchange);
    if (settings.way == Way::memory && hosts_ > 1) refuse_memory("they are on several hosts");
    if (settings.way == Way::tcp) neighbours_ = {self};
    if (ranks > 1) share_memory(exchange);
    if (needs_network_) open_network(exchange);
    assemble();
  }

  ~Parts() {
    // Others may still read what this rank has last sent: the memory stays until the last leaves.
    mixed_.reset();
    memory_.reset();
    if (thread_memory_ != nullptr) thread_memory_->leave();
  }

  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  [[nodiscard]] Transport& transport() {
    if (mixed_) return *mixed_;
    if (memory_) return *memory_;
    return *network_;
  }

  [[nodiscard]] const Kinship& kinship() const { return kinship_; }
  [[nodiscard]] const Party& party() const { return party_; }
  [[nodiscard]] std::span<const std::uint32_t> lanes() const { return lanes_; }
  [[nodiscard]] const FabricSettings& settings() const { return settings_; }

  [[nodiscard]] std::string description() const {
    if (ranks_ == 1) return "alone";
    if (!needs_network_) return threads_ ? "threads of one process" : "shared memory";
    std::string tcp = settings_.secret.tls ? "TCP with TLS" : "TCP";
    if (!memory_) return tcp;
    return "shared memory within " + std::to_string(hosts_) + " hosts, " + tcp + " between them";
  }

 private:
  [[noreturn]] static void refuse_memory(const std::string& why) {
    throw Error(ErrorCode::unsupported, "the ranks cannot all share memory: " + why +
                                            "; unset TUTTI_TRANSPORT to use TCP between them");
  }

  /// Everyone learns where everyone is.
  void meet(Exchange& exchange) {
    Card own = own_card(settings_);
    if (!kinship_.lifeline && ranks_ > 1) own.trouble = trouble_with_descriptors(ranks_);
    for (const std::string& text : exchange.all(write(own))) cards_.push_back(read_card(text));
    std::map<std::string, HostLoad> hosts;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      const Card& card = cards_[r];
      if (card.way != own.way) {
        throw Error(ErrorCode::mismatch,
                    "rank " + std::to_string(r) + " was told another TUTTI_TRANSPORT than rank " +
                        std::to_string(self_.index()) + ": give all ranks the same");
      }
      require_same_choices(r);
      HostLoad& load = hosts[card.host];
      ++load.ranks;
      load.cores.insert(card.cores.begin(), card.cores.end());
      if (card.host == own.host) neighbours_.emplace_back(r);
    }
    hosts_ = hosts.size();
    roomy_ = !hosts[own.host].is_crowded();
    party_ = {.ranks = ranks_, .cores = 0};
    for (const auto& [host, load] : hosts) {
      party_.cores += static_cast<std::uint32_t>(std::max<std::size_t>(load.cores.size(), 1));
      party_.reach.crowded = party_.reach.crowded || load.is_crowded();
    }
    needs_network_ = ranks_ > 1 && (hosts_ > 1 || settings_.way == Way::tcp);
    one_network_ = std::all_of(cards_.begin(), cards_.end(),
                               [&](const Card& card) { return card.network == own.network; });
    party_.hosts = shape_of_hosts();
    threads_ = std::all_of(cards_.begin(), cards_.end(), [&](const Card& card) {
      return card.pid == own.pid && card.host == own.host;
    });
    if (!threads_) require_no_trouble();
  }

  /// All ranks learn of it at once, instead of waiting for the one that fails.
  void require_no_trouble() const {
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (cards_[r].trouble.empty()) continue;
      throw Error(ErrorCode::unsupported,
                  "rank " + std::to_string(r) + " on " + cards_[r].name + ": " + cards_[r].trouble);
    }
  }

  /// Ranks that chose by different figures would each wait for messages that nobody sends.
  void require_same_choices(std::uint32_t rank) const {
    if (cards_[rank].choice_digest == cards_[0].choice_digest) return;
    throw Error(ErrorCode::mismatch,
                "ranks choose algorithms differently: rank 0 by " + cards_[0].choice_origin +
                    ", and rank " + std::to_string(rank) + " by " + cards_[rank].choice_origin +
                    "; give all ranks the same profile, TUTTI_ALGO and "
                    "TUTTI_RULES");
  }

  [[nodiscard]] Shape shape_of_hosts() const {
    const auto hosts = static_cast<std::uint32_t>(hosts_);
    if (ranks_ % hosts != 0) return {};
    const std::uint32_t each = ranks_ / hosts;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (cards_[r].host != cards_[r - r % each].host) return {};
    }
    return {.dimensions = {each, hosts}};
  }

  /// The first rank of each host makes the memory, and the others there map it. If that fails
  /// anywhere, everyone hears of it, and all use the network instead.
  void share_memory(Exchange& exchange) {
    const bool shares = neighbours_.size() > 1;
    const bool makes = shares && neighbours_.front() == self_;
    const auto here = static_cast<std::uint32_t>(neighbours_.size());
    const std::size_t bytes = Commons::size(here, outbox_for(here));
    Json offer;
    std::string trouble;
    if (makes) {
      try {
        offer = offer_memory(bytes, here);
      } catch (const Error& error) {
        trouble = error.what();
      }
    }
    const std::vector<std::string> offers = exchange.all(offer.dump());
    if (shares && trouble.empty()) {
      try {
        accept_memory(Json::parse(offers[neighbours_.front().index()]), makes);
      } catch (const Error& error) {
        trouble = error.what();
      }
    }
    const std::vector<std::string> troubles = exchange.all(trouble);
    if (segment_) segment_->close_door();
    const auto failed = std::find_if(troubles.begin(), troubles.end(),
                                     [](const std::string& each) { return !each.empty(); });
    if (failed == troubles.end()) return;
    if (settings_.way == Way::memory) refuse_memory(*failed);
    view_.reset();
    segment_.reset();
    if (thread_memory_ != nullptr) std::exchange(thread_memory_, nullptr)->leave();
    neighbours_ = {self_};
    needs_network_ = true;
  }

  [[nodiscard]] Json offer_memory(std::size_t bytes, std::uint32_t users) {
    if (threads_) {
      thread_memory_ = ThreadMemory::create(bytes, users);
      return {{"address", reinterpret_cast<std::uint64_t>(thread_memory_)}};
    }
    segment_.emplace(Segment::create(bytes));
    const Segment::Address& address = segment_->address();
    return {{"pid", address.pid},
            {"fd", address.fd},
            {"bytes", address.bytes},
            {"token", address.token}};
  }

  void accept_memory(const Json& offer, bool made_it) {
    if (offer.is_null()) throw Error(ErrorCode::unsupported, "nobody offers memory");
    if (threads_) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): threads tell each other an address by a card.
      thread_memory_ = reinterpret_cast<ThreadMemory*>(offer.at("address").get<std::uint64_t>());
      view_ = std::make_unique<ThreadView>();
      return;
    }
    if (!made_it) {
      segment_.emplace(Segment::open({.pid = offer.at("pid"),
                                      .fd = offer.at("fd"),
                                      .bytes = offer.at("bytes"),
                                      .token = offer.at("token")}));
    }
    std::vector<HeapView::Neighbour> heaps;
    for (const Rank rank : neighbours_) {
      const Card& card = cards_[rank.index()];
      heaps.push_back({.pid = card.pid, .heap_fd = card.heap_fd});
    }
    view_ = std::make_unique<HeapView>(heaps);
  }

  /// Where this rank can be reached, and all the others.
  struct Doors {
    Socket listener{};
    std::vector<Contact> contacts{};
    std::string group{};
    Secret secret{};
  };

  /// Within one host nobody else need be able to connect. To another the loopback address means
  /// nothing, so it is never told.
  [[nodiscard]] Doors open_doors(Exchange& exchange, const Endpoint& within_host) {
    Doors doors;
    std::vector<Endpoint> addresses;
    if (one_network_) {
      doors.listener = listen_on(within_host, settings_.ports);
      addresses = {within_host};
    } else {
      if (settings_.secret.bytes.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "ranks on several hosts need a secret by which to know each other: set "
                    "TUTTI_SECRET to the same long random text for all of them");
      }
      addresses = own_addresses(settings_.interfaces);
      // Ranks that cannot tell may all the same be on one network: then loopback is tried last.
      if (is_known_network(cards_[self_.index()].network)) {
        std::erase_if(addresses, [](const Endpoint& each) { return each.is_loopback(); });
      }
      if (addresses.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "rank " + std::to_string(self_.index()) + " on " + cards_[self_.index()].name +
                        " has no network address that other hosts could reach: bring an interface "
                        "up, or look at TUTTI_SOCKET_IFNAME");
      }
      doors.listener = listen_on_all(addresses, settings_.ports);
    }
    const Endpoint bound = bound_to(doors.listener);
    Json endpoints = Json::array();
    for (const Endpoint& each : addresses) {
      endpoints.push_back(each.family() == AF_UNIX ? each.text()
                                                   : each.with_port(bound.port()).text());
    }
    agree_on_name(exchange, doors);
    for (const std::string& text : exchange.all(endpoints.dump())) {
      Contact contact{.host = cards_[doors.contacts.size()].name, .endpoints = {}};
      for (const Json& each : Json::parse(text)) {
        contact.endpoints.push_back(Endpoint::parse(each.get<std::string>()));
      }
      doors.contacts.push_back(std::move(contact));
    }
    return doors;
  }

  void open_network(Exchange& exchange) {
    Doors doors = open_doors(exchange, Endpoint::parse("127.0.0.1:0"));
    Patience patience = network_patience_for(roomy_);
    if (segment_ || thread_memory_ != nullptr) patience.nap = nap_beside_memory;
    network_ =
        std::make_unique<TcpTransport>(self_, std::move(doors.contacts), std::move(doors.listener),
                                       std::move(doors.secret), doors.group, patience);
  }

  /// By which ranks notice who is gone. Within a host it needs no network.
  void open_lifeline(Exchange& exchange) {
    std::vector<std::string> whereabouts;
    std::vector<int> processes;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const bool is_here = cards_[rank].host == cards_[self_.index()].host;
      processes.push_back(is_here ? cards_[rank].pid : 0);
      whereabouts.push_back(threads_ ? "a thread of process " + std::to_string(cards_[rank].pid)
                                     : "process " + std::to_string(cards_[rank].pid) + " on " +
                                           cards_[rank].name);
      kinship_.members.push_back(rank);
    }
    kinship_.lifeline = std::make_shared<Lifeline>(self_.index(), std::move(whereabouts));
    if (threads_) {
      kinship_.lifeline->attach(shared_hub(exchange)->post(self_.index(), *kinship_.lifeline));
      return;
    }
    Doors doors = open_doors(
        exchange, Endpoint::within_host("tutti/line/" + Secret::random().bytes.substr(0, 32)));
    kinship_.lifeline->attach(
        std::make_unique<Mesh>(Mesh::Place{.self = self_.index(),
                                           .contacts = std::move(doors.contacts),
                                           .listener = std::move(doors.listener),
                                           .secret = std::move(doors.secret),
                                           .group = doors.group,
                                           .processes = std::move(processes),
                                           .lost_after = settings_.lost_after},
                               *kinship_.lifeline, Clock::now() + settings_.start_timeout));
  }

  /// The first thread makes it and tells the others its address; when all have it, nobody needs
  /// the address any more.
  [[nodiscard]] std::shared_ptr<ThreadHub> shared_hub(Exchange& exchange) const {
    std::shared_ptr<ThreadHub> hub;
    if (self_ == Rank{0}) hub = std::make_shared<ThreadHub>(ranks_);
    const std::string own =
        self_ == Rank{0} ? std::to_string(reinterpret_cast<std::uintptr_t>(&hub)) : std::string();
    const std::uintptr_t address = std::stoull(exchange.all(own).front());
    // NOLINTNEXTLINE(performance-no-int-to-ptr): threads tell each other an address by a card.
    if (self_ != Rank{0}) hub = *reinterpret_cast<const std::shared_ptr<ThreadHub>*>(address);
    (void)exchange.all("");
    return hub;
  }

  /// A name that no other communicator has: rank 0 makes it up. And, where the user has given no
  /// secret, one as well, by which other users of this host are kept out.
  void agree_on_name(Exchange& exchange, Doors& doors) const {
    constexpr std::size_t name_length = 16;
    const std::string own =
        self_ == Rank{0} ? Secret::random().bytes.substr(0, name_length) + Secret::random().bytes
                         : "";
    const std::string made = exchange.all(own).front();
    doors.group = made.substr(0, name_length);
    doors.secret = settings_.secret;
    if (doors.secret.bytes.empty()) doors.secret.bytes = made.substr(name_length);
  }

  [[nodiscard]] Pairs pairs() const {
    if (needs_network_) return one_network_ ? Pairs::loopback : Pairs::network;
    return threads_ ? Pairs::process : Pairs::host;
  }

  void assemble() {
    party_.reach.pairs = pairs();
    const auto here = static_cast<std::uint32_t>(neighbours_.size());
    if (segment_ || thread_memory_ != nullptr) {
      std::byte* const base = segment_ ? segment_->data() : thread_memory_->data();
      const auto place = std::find(neighbours_.begin(), neighbours_.end(), self_);
      const Rank local{static_cast<std::uint32_t>(place - neighbours_.begin())};
      memory_ = std::make_unique<MemoryTransport>(Commons(base, here, outbox_for(here)), local,
                                                  view_.get(), patience_for(roomy_));
    } else if (!network_) {
      alone_.resize(Commons::size(1, {}) + cache_line);
      const auto address = reinterpret_cast<std::uintptr_t>(alone_.data());
      std::byte* const base = alone_.data() + (cache_line - address % cache_line) % cache_line;
      memory_ = std::make_unique<MemoryTransport>(Commons(base, 1, {}), Rank{0}, nullptr,
                                                  patience_for(true));
    }
    if (memory_ && network_) {
      memory_->set_names(neighbours_);
      std::vector<std::optional<Rank>> local(ranks_);
      for (std::uint32_t i = 0; i < here; ++i) local[neighbours_[i].index()] = Rank{i};
      mixed_ = std::make_unique<MixedTransport>(*memory_, *network_, std::move(local),
                                                network_patience_for(roomy_));
    }
    if (!network_) return;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      lanes_.push_back(r == self_.index() ? 0 : transport().lane(Rank{r}));
    }
  }

  FabricSettings settings_;
  Kinship kinship_;
  Rank self_;
  std::uint32_t ranks_;
  std::vector<Card> cards_;
  std::vector<Rank> neighbours_;  // The ranks of this host, this one included.
  std::size_t hosts_ = 1;
  Party party_;
  bool needs_network_ = false;
  bool one_network_ = true;  // Everyone is reached by the loopback interface.
  bool threads_ = false;
  bool roomy_ = true;  // Every rank of this host can have a core of its own.
  std::vector<std::uint32_t> lanes_;

  std::optional<Segment> segment_;
  ThreadMemory* thread_memory_ = nullptr;
  std::vector<std::byte> alone_;
  std::unique_ptr<SharedView> view_;
  std::unique_ptr<MemoryTransport> memory_;
  std::unique_ptr<TcpTransport> network_;
  std::unique_ptr<MixedTransport> mixed_;
};

Fabric::Fabric(Exchange& exchange, Rank self, std::uint32_t ranks, const FabricSettings& settings,
               const Kinship& kinship)
    : parts_(std::make_unique<Parts>(exchange, self, ranks, settings, kinship)) {}

Fabric::~Fabric() = default;

Transport& Fabric::transport() { return parts_->transport(); }
const Kinship& Fabric::kinship() const { return parts_->kinship(); }
const Party& Fabric::party() const { return parts_->party(); }
std::span<const std::uint32_t> Fabric::lanes() const { return parts_->lanes(); }
std::string Fabric::description() const { return parts_->description(); }
const FabricSettings& Fabric::settings() const { return parts_->settings(); }

}  // namespace tutti
