#include "simgrid_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <simgrid/s4u.hpp>

#include <tutti/network/generator.hpp>
#include <tutti/network/routes.hpp>

namespace tutti::oracle {
namespace {

namespace sg = simgrid::s4u;

/// The program of one rank, in the form that an actor needs.
struct Part {
  struct Message {
    sg::Mailbox* box = nullptr;
    double bytes = 0;
    std::uint32_t round = 0;
    std::size_t after = 0;  // For a send: the number of receives that must be done.
  };

  std::vector<Message> sends;
  std::vector<Message> receives;
  sg::SemaphorePtr received = sg::Semaphore::create(0);
};

class Platform {
 public:
  explicit Platform(const Case& which)
      : case_(which), network_(generate(which.network)), routes_(network_) {}

  void build(const std::vector<Program>& programs) {
    // A table of all pairs would be too large for big stars, which do not need one.
    const bool star = case_.network.rfind("star", 0) == 0;
    zone_ = star ? sg::create_star_zone("net") : sg::create_full_zone("net");
    for (std::size_t r = 0; r < case_.ranks; ++r) {
      hosts.push_back(zone_->create_host(std::to_string(r), 1e9));
    }
    for (std::size_t l = 0; l < network_.links.size(); ++l) {
      links_.push_back(
          zone_->create_link("l" + std::to_string(l), network_.links[l].bytes_per_second)
              ->set_latency(network_.links[l].latency)
              ->seal());
    }
    star ? join_star() : join_pairs(programs);
    zone_->seal();
  }

  std::vector<sg::Host*> hosts;  // Indexed by rank of the schedule.

 private:
  [[nodiscard]] Rank place(std::size_t rank) const {
    return places_.empty() ? Rank{static_cast<std::uint32_t>(rank)} : places_[rank];
  }

  void join_star() {
    for (std::size_t r = 0; r < hosts.size(); ++r) {
      const std::size_t up = 2 * std::size_t{place(r)};
      zone_->add_route(hosts[r]->get_netpoint(), nullptr, nullptr, nullptr,
                       {sg::LinkInRoute(links_[up])}, false);
      zone_->add_route(nullptr, hosts[r]->get_netpoint(), nullptr, nullptr,
                       {sg::LinkInRoute(links_[up + 1])}, false);
    }
  }

  void join_pairs(const std::vector<Program>& programs) {
    for (std::size_t r = 0; r < programs.size(); ++r) {
      std::set<Rank> peers;
      for (const Step step : programs[r]) {
        if (step.kind == Step::Kind::send) peers.insert(step.peers.begin(), step.peers.end());
      }
      for (const Rank peer : peers) {
        std::vector<sg::LinkInRoute> route;
        for (const LinkId link : routes_.between(place(r), place(peer))) {
          route.emplace_back(links_[link.index()]);
        }
        zone_->add_route(hosts[r]->get_netpoint(), hosts[peer]->get_netpoint(), nullptr, nullptr,
                         route, false);
      }
    }
  }

  const Case& case_;
  Network network_;
  Routes routes_;
  std::vector<Rank> places_ = case_.places();
  sg::NetZone* zone_ = nullptr;
  std::vector<sg::Link*> links_;
};

/// Reads a program step by step. Shares no code with tutti's simulator.
class Reader {
 public:
  /// `by_rounds`: the actor works round by round and does not need the dependences of sends.
  Reader(std::uint32_t rank, const Layout& layout, bool by_rounds)
      : rank_(rank), layout_(layout), by_rounds_(by_rounds) {}

  void read(const Program& program, Part& part) {
    std::map<std::uint64_t, std::size_t> written;  // By chunk: the number of receives until then.
    for (const Step step : program) {
      double bytes = 0;
      std::size_t after = 0;
      for (const ChunkRange& range : step.chunks) {
        bytes += static_cast<double>(layout_.size(range));
      }
      const bool sends = step.kind == Step::Kind::send;
      for (const Rank peer : step.peers) {
        sg::Mailbox*& box = boxes_[{sends, peer}];
        if (box == nullptr) {
          box = sends ? box_of(rank_, peer) : box_of(peer, rank_);
        }
        if (sends) after = last_written(step, written);
        (sends ? part.sends : part.receives).push_back({box, bytes, step.round, after});
      }
      if (!sends && !by_rounds_) write(step, part.receives.size(), written);
    }
  }

 private:
  static sg::Mailbox* box_of(std::uint32_t from, std::uint32_t to) {
    return sg::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
  }

  /// The latest receive that wrote the chunks; ranges are looked up by their ends.
  static std::size_t last_written(const Step& step,
                                  const std::map<std::uint64_t, std::size_t>& written) {
    std::size_t last = 0;
    for (const ChunkRange& range : step.chunks) {
      for (auto it = written.lower_bound(range.first.index());
           it != written.end() && it->first < range.end().index(); ++it) {
        last = std::max(last, it->second);
      }
    }
    return last;
  }

  static void write(const Step& step, std::size_t receives,
                    std::map<std::uint64_t, std::size_t>& written) {
    for (const ChunkRange& range : step.chunks) {
      for (std::uint64_t i = 0; i < range.count; ++i) written[range.first.index() + i] = receives;
    }
  }

  std::uint32_t rank_;
  const Layout& layout_;
  bool by_rounds_;
  std::map<std::pair<bool, std::uint32_t>, sg::Mailbox*> boxes_;  // By direction and peer.
};

int nothing = 0;  // The payload of messages: SimGrid needs a pointer.

void send_all(Part& part, bool one_port) {
  std::size_t received = 0;
  std::vector<sg::CommPtr> under_way;
  for (const Part::Message& each : part.sends) {
    for (; received < each.after; ++received) part.received->acquire();
    if (one_port) {
      each.box->put(&nothing, static_cast<std::uint64_t>(each.bytes));
    } else {
      under_way.push_back(each.box->put_async(&nothing, static_cast<std::uint64_t>(each.bytes)));
    }
  }
  for (const sg::CommPtr& each : under_way) each->wait();
}

void receive_all(Part& part, bool one_port) {
  std::vector<sg::CommPtr> under_way;
  std::vector<int*> taken(part.receives.size());
  for (std::size_t i = 0; i < part.receives.size(); ++i) {
    under_way.push_back(part.receives[i].box->get_async<int>(&taken[i]));
    if (!one_port) continue;
    under_way.back()->wait();
    part.received->release();
  }
  if (one_port) return;
  for (const sg::CommPtr& each : under_way) {
    each->wait();
    part.received->release();
  }
}

/// All messages of a round in both directions, then the next round.
void exchange_all(const Part& part) {
  std::size_t sent = 0;
  std::size_t received = 0;
  while (sent < part.sends.size() || received < part.receives.size()) {
    std::uint32_t round = ~0U;
    if (sent < part.sends.size()) round = part.sends[sent].round;
    if (received < part.receives.size()) round = std::min(round, part.receives[received].round);
    std::vector<sg::CommPtr> under_way;
    int* taken = nullptr;
    for (; received < part.receives.size() && part.receives[received].round == round; ++received) {
      under_way.push_back(part.receives[received].box->get_async<int>(&taken));
    }
    for (; sent < part.sends.size() && part.sends[sent].round == round; ++sent) {
      under_way.push_back(part.sends[sent].box->put_async(
          &nothing, static_cast<std::uint64_t>(part.sends[sent].bytes)));
    }
    for (const sg::CommPtr& each : under_way) each->wait();
  }
}

}  // namespace

double run_in_simgrid(const Case& which, Actors actors, Accuracy accuracy) {
  const bool fine = accuracy == Accuracy::fine;
  std::array<std::string, 10> words{
      "oracle",
      "--cfg=network/model:CM02",
      "--cfg=network/TCP-gamma:0",
      "--cfg=network/crosstraffic:0",
      "--cfg=network/weight-S:0",
      std::string("--cfg=network/optim:") + (fine ? "Full" : "Lazy"),
      std::string("--cfg=surf/precision:") + (fine ? "1e-12" : "1e-9"),
      "--cfg=contexts/stack-size:64",
      "--cfg=contexts/guard-size:0",
      "--log=root.thresh:error"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  sg::Engine engine(&count, arguments.data());

  const ScheduleSource source = which.source();
  const Layout layout = which.layout(source.contract);
  std::vector<Program> programs;
  for (std::uint32_t r = 0; r < which.ranks; ++r) programs.push_back(source.program(r));
  Platform platform(which);
  platform.build(programs);
  std::vector<Part> parts(which.ranks);
  const bool one_port = which.ports == 1;
  for (std::uint32_t r = 0; r < which.ranks; ++r) {
    Part& part = parts[r];
    Reader(r, layout, actors == Actors::one).read(programs[r], part);
    programs[r] = Program();
    if (actors == Actors::one) {
      sg::Actor::create("x", platform.hosts[r], [&part] { exchange_all(part); });
    } else {
      sg::Actor::create("s", platform.hosts[r], [&part, one_port] { send_all(part, one_port); });
      sg::Actor::create("r", platform.hosts[r], [&part, one_port] { receive_all(part, one_port); });
    }
  }
  engine.run();
  return sg::Engine::get_clock();
}

}  // namespace tutti::oracle
