#include <tutti/sim/simulation_json.hpp>

#include "core/json.hpp"
#include "sim/busiest_links.hpp"

namespace tutti {
namespace {

Json json_of(const Activity& activity) {
  Json json{{"kind", activity.kind == Activity::Kind::message ? "message" : "sum"},
            {"rank", activity.rank.index()}};
  if (activity.kind == Activity::Kind::message) json["to"] = activity.peer.index();
  json.update({{"round", activity.round},
               {"bytes", activity.bytes},
               {"begin", activity.begin},
               {"end", activity.end},
               {"alone", activity.alone}});
  return json;
}

Json json_of(const std::vector<Activity>& activities) {
  Json list = Json::array();
  for (const Activity& each : activities) list.push_back(json_of(each));
  return list;
}

Json json_of_links(const Simulation& simulation, const Network& network) {
  Json list = Json::array();
  for (const BusyLink& each : busiest_links(simulation, network, network.links.size())) {
    list.push_back({{"from", network[network[each.link].from].name},
                    {"to", network[network[each.link].to].name},
                    {"bytes", each.use.bytes},
                    {"busy", each.use.busy},
                    {"utilisation", each.utilisation}});
  }
  return list;
}

/// For every link that carried data: its utilisation in each interval.
Json json_of_series(const Simulation& simulation, const Network& network) {
  const UtilisationSeries& series = simulation.utilisation;
  Json links = Json::array();
  for (const BusyLink& each : busiest_links(simulation, network, network.links.size())) {
    const double most = network[each.link].bytes_per_second * series.seconds;
    Json used = Json::array();
    for (std::size_t i = 0; i < series.intervals(); ++i) {
      used.push_back(series.bytes[i * series.links + each.link.index()] / most);
    }
    links.push_back({{"from", network[network[each.link].from].name},
                     {"to", network[network[each.link].to].name},
                     {"used", std::move(used)}});
  }
  return {{"interval", series.seconds}, {"links", std::move(links)}};
}

}  // namespace

std::string to_json(const Simulation& simulation, const Network& network) {
  Json json{{"network", network.name},
            {"seconds", simulation.seconds},
            {"messages", simulation.messages},
            {"bytes", simulation.bytes},
            {"by_symmetry", simulation.by_symmetry},
            {"finished", simulation.finished},
            {"links", json_of_links(simulation, network)},
            {"critical_path", json_of(simulation.critical_path)}};
  if (simulation.utilisation.intervals() > 0) {
    json["utilisation"] = json_of_series(simulation, network);
  }
  if (!simulation.activities.empty()) json["activities"] = json_of(simulation.activities);
  return json.dump(1) + "\n";
}

}  // namespace tutti
