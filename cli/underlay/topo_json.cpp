#include "cli/underlay/topo_json.hpp"

#include <tutti/network/generator.hpp>

#include "core/json_value.hpp"

namespace tutti::cli {
namespace {

Json to_json(const RingCost& cost) {
  return {{"slowest", cost.slowest}, {"busiest", cost.contention}, {"sum", cost.sum}};
}

}  // namespace

std::string generators_json() {
  Json list = Json::array();
  for (const Generator& each : generators()) {
    Json parameters = Json::array();
    for (const Parameter& parameter : each.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"default", parameter.otherwise},
                            {"summary", parameter.summary}});
    }
    list.push_back({{"name", each.name},
                    {"example", each.example},
                    {"summary", each.summary},
                    {"parameters", std::move(parameters)}});
  }
  return json_text(list, 2) + "\n";
}

std::string network_report_json(const Network& network, const Stretch& ring,
                                const KnownOptimum& known) {
  Json document{{"name", network.name},
                {"ranks", network.rank_count()},
                {"nodes", network.nodes.size()},
                {"links", network.links.size()},
                {"ring_stretch", ring.average}};
  document["optimum"] = Json();
  if (known.optimum) {
    document["optimum"] = {{"allgather", known.optimum->allgather.value()},
                           {"reduce_scatter", known.optimum->reduce_scatter.value()},
                           {"allreduce", known.optimum->allreduce.value()},
                           {"composed_allreduce", known.optimum->composed_allreduce.value()}};
  }
  return json_text(document, 2) + "\n";
}

std::string stretch_json(const Network& network, const Stretch& found,
                         const std::vector<LinkLoad>& loads) {
  Json document{{"average", found.average}, {"worst", found.worst}};
  document["links"] = Json::array();
  for (std::uint32_t i = 0; i < loads.size(); ++i) {
    if (loads[i].messages == 0) continue;
    document["links"].push_back(
        {{"link", network.describe(LinkId{i})},
         {"messages", loads[i].messages},
         {"bytes", loads[i].bytes},
         {"seconds", static_cast<double>(loads[i].bytes) / network.links[i].bytes_per_second}});
  }
  return json_text(document, 2) + "\n";
}

std::string order_json(const RingOrder& found, const Network* network) {
  Json document;
  document["order"] = Json::array();
  for (const Rank rank : found.ranks) {
    document["order"].push_back(network != nullptr ? Json(network->node_of(rank).name)
                                                   : Json(rank));
  }
  document["exact"] = found.exact;
  document["given"] = to_json(found.given);
  document["best"] = to_json(found.cost);
  return json_text(document, 2) + "\n";
}

}  // namespace tutti::cli
