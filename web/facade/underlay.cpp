#include <algorithm>

#include <tutti/error.hpp>
#include <tutti/network/ring_order.hpp>
#include <tutti/network/stretch.hpp>
#include <tutti/sim/simulation.hpp>

#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "render/network_layout.hpp"
#include "sim/busiest_links.hpp"
#include "web/facade/explorer.hpp"

namespace tutti::web {
namespace {

/// "places": places[r] is the rank of the network on which rank r runs.
std::vector<Rank> read_places(const JsonReader& arguments, std::uint32_t ranks,
                              const Network& network) {
  if (ranks > network.rank_count()) {
    throw Error(ErrorCode::invalid_argument, "the schedule is for " + std::to_string(ranks) +
                                                 " ranks, but " + network.name + " has " +
                                                 std::to_string(network.rank_count()));
  }
  std::vector<Rank> places;
  std::vector<bool> taken(network.rank_count());
  const auto given = arguments.value("places", std::vector<std::uint32_t>());
  if (!given.empty()) {
    for (const std::uint32_t place : given) {
      if (place >= network.rank_count() || taken[place]) {
        throw Error(ErrorCode::invalid_argument,
                    "place " + std::to_string(place) +
                        " is taken twice or is not in the network; name each place once");
      }
      taken[place] = true;
      places.emplace_back(place);
    }
    if (places.size() < ranks) {
      throw Error(ErrorCode::invalid_argument, "some ranks have no place in the network");
    }
    places.resize(ranks);
    return places;
  }
  for (std::uint32_t r = 0; r < ranks; ++r) places.emplace_back(r);
  return places;
}

Json numbers(const std::vector<Rank>& ranks) {
  Json list = Json::array();
  for (const Rank each : ranks) list.push_back(each);
  return list;
}

/// Of the bound for the same ports; none for numbers of ports that the page does not offer.
std::optional<double> part_of_bound(const KeptNetwork& on, const Contract& contract,
                                    std::uint64_t size, std::uint32_t ports, double seconds) {
  const std::optional<Optimum>& bound = ports == 1 ? on.one_port_optimum : on.optimum;
  if (!bound || ports > 1 || contract.ranks != on.network.rank_count() || seconds <= 0) return {};
  std::optional<Fraction> best;
  if (contract.collective == Collective::allgather) best = bound->allgather;
  if (contract.collective == Collective::reduce_scatter) best = bound->reduce_scatter;
  if (contract.collective == Collective::allreduce) best = bound->allreduce;
  if (!best) return {};
  return static_cast<double>(size) / seconds / best->value();
}

Json describe(const Optimum& best) {
  Json inside = Json::array();
  for (const NodeId each : best.cut.inside) inside.push_back(each.index());
  return {
      {"allgather", best.allgather.value()},
      {"reduce_scatter", best.reduce_scatter.value()},
      {"allreduce", best.allreduce.value()},
      {"cut",
       {{"inside", std::move(inside)}, {"ranks", best.cut.ranks}, {"leaving", best.cut.leaving}}}};
}

/// Eight numbers per activity: kind, rank, peer, round, bytes, begin, end, alone.
Json flat(const std::vector<Activity>& activities) {
  Json list = Json::array();
  for (const Activity& each : activities) {
    list.push_back(each.kind == Activity::Kind::sum ? 1 : 0);
    list.push_back(each.rank);
    list.push_back(each.peer);
    list.push_back(each.round);
    list.push_back(each.bytes);
    list.push_back(each.begin);
    list.push_back(each.end);
    list.push_back(each.alone);
  }
  return list;
}

}  // namespace

/// A network, laid out: nodes [name, kind, level, x, y], links [from, to, bytes per second,
/// latency, bend x, bend y].
Json underlay(Explorer& explorer, const JsonReader& arguments) {
  const KeptNetwork& on = explorer.network(arguments.at("network").string());
  const render::NetworkLayout where = render::lay_out(on.network);
  Json nodes = Json::array();
  for (std::size_t i = 0; i < on.network.nodes.size(); ++i) {
    const Node& node = on.network.nodes[i];
    nodes.push_back(
        Json::array({node.name, name(node.kind), node.level, where.nodes[i].x, where.nodes[i].y}));
  }
  Json links = Json::array();
  for (std::size_t i = 0; i < on.network.links.size(); ++i) {
    const Link& link = on.network.links[i];
    links.push_back(Json::array({link.from.index(), link.to.index(), link.bytes_per_second,
                                 link.latency, where.bends[i].x, where.bends[i].y}));
  }
  Json ranks = Json::array();
  for (const NodeId each : on.network.ranks) ranks.push_back(each.index());
  Json answer{{"name", on.network.name}, {"policy", name(on.routes.policy())}};
  answer["nodes"] = std::move(nodes);
  answer["links"] = std::move(links);
  answer["ranks"] = std::move(ranks);
  if (on.optimum) answer["optimum"] = describe(*on.optimum);
  return answer;
}

/// What a schedule loads on the links of a network: bytes and messages of each link, the route of
/// each pair of ranks that exchange messages, and the stretch.
Json load(Explorer& explorer, const JsonReader& arguments) {
  KeptNetwork& on = explorer.network(arguments.at("network").string());
  const Schedule& schedule = explorer.schedule(read_schedule(arguments)).schedule();
  const std::vector<Rank> places = read_places(arguments, schedule.contract.ranks, on.network);
  const Layout layout = even_layout(schedule.contract, read_size(arguments));
  const std::uint32_t only = arguments.value<std::uint32_t>("round", ~std::uint32_t{0});
  struct Use {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Use> uses(on.network.links.size());
  std::vector<Hop> hops;
  std::vector<std::vector<bool>> known(places.size(), std::vector<bool>(places.size()));
  Json routes = Json::array();
  std::vector<LinkId> path;
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    for (const Step step : schedule.programs[r]) {
      if (step.kind != Step::Kind::send) continue;
      if (only != ~std::uint32_t{0} && step.round != only) continue;
      std::uint64_t bytes = 0;
      for (const ChunkRange& range : step.chunks) bytes += layout.size(range);
      for (const Rank peer : step.peers) {
        hops.push_back({.from = places[r], .to = places[peer]});
        path.clear();
        on.routes.append(hops.back().from, hops.back().to, path);
        for (const LinkId link : path) {
          ++uses[link.index()].messages;
          uses[link.index()].bytes += bytes;
        }
        if (known[r][peer]) continue;
        known[r][peer] = true;
        Json route = Json::array({r, peer});
        for (const LinkId link : path) route.push_back(link.index());
        routes.push_back(std::move(route));
      }
    }
  }
  const Stretch found = stretch(on.routes, hops);
  Json links = Json::array();
  for (const Use& each : uses) links.push_back(Json::array({each.messages, each.bytes}));
  Json answer{{"rounds", schedule.rounds()}};
  answer["links"] = std::move(links);
  answer["routes"] = std::move(routes);
  // The worst hop in ranks of the schedule, not in places.
  const auto rank_at = [&](Rank place) {
    return std::find(places.begin(), places.end(), place) - places.begin();
  };
  answer["stretch"] = {{"average", found.average},
                       {"worst", found.worst},
                       {"worst_from", static_cast<long>(rank_at(found.worst_hop.from))},
                       {"worst_to", static_cast<long>(rank_at(found.worst_hop.to))}};
  return answer;
}

/// A simulated run: its time, every message and sum, the critical path, and the use of each link.
Json simulated(Explorer& explorer, const JsonReader& arguments) {
  KeptNetwork& on = explorer.network(arguments.at("network").string());
  const Schedule& schedule = explorer.schedule(read_schedule(arguments)).schedule();
  const std::uint64_t size = read_size(arguments);
  SimulationSettings settings{.alpha = parse_seconds(arguments.value("sim_alpha", "0")),
                              .gamma = parse_seconds_per_byte(arguments.value("gamma", "0")),
                              .ports = arguments.value<std::uint32_t>("sim_ports", 1),
                              .slice = parse_bytes(arguments.value("slice", "0")),
                              .places = read_places(arguments, schedule.contract.ranks, on.network),
                              .records = arguments.value("records", true),
                              .intervals = arguments.value<std::uint32_t>("intervals", 0)};
  const bool records = settings.records;
  const Simulation result = simulate(on.network, on.routes, source_of(schedule),
                                     even_layout(schedule.contract, size), settings);
  Json links = Json::array();
  for (const LinkUse& each : result.links) links.push_back(Json::array({each.bytes, each.busy}));
  Json busiest = Json::array();
  for (const BusyLink& each : busiest_links(result, on.network, 6)) {
    busiest.push_back({{"link", each.link.index()},
                       {"name", on.network.describe(each.link)},
                       {"bytes", each.use.bytes},
                       {"busy", each.use.busy},
                       {"utilisation", each.utilisation}});
  }
  Json answer{{"seconds", result.seconds}, {"messages", result.messages}, {"bytes", result.bytes}};
  const auto part = part_of_bound(on, schedule.contract, size, settings.ports, result.seconds);
  answer["part_of_bound"] = part ? Json(*part) : Json();
  answer["finished"] = Json(result.finished);
  answer["links"] = std::move(links);
  answer["busiest"] = std::move(busiest);
  answer["critical_path"] = flat(result.critical_path);
  if (records) answer["activities"] = flat(result.activities);
  return answer;
}

/// The order of ranks in a ring that costs least on a network, as `tutti topo order` finds it.
Json ring_order(Explorer& explorer, const JsonReader& arguments) {
  KeptNetwork& on = explorer.network(arguments.at("network").string());
  const RingOrder best = order_ring(on.network, on.routes, read_size(arguments));
  return {{"places", numbers(best.ranks)},
          {"slowest", best.cost.slowest},
          {"given_slowest", best.given.slowest},
          {"exact", best.exact}};
}

}  // namespace tutti::web
