#include "cli/explanation/collective_json.hpp"

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/bounds.hpp>

#include "core/json_value.hpp"
#include "render/boxes.hpp"
#include "render/definition.hpp"

namespace tutti::cli {

std::string collective_json(const Contract& contract) {
  const Collective collective = contract.collective;
  const render::Definition& words = render::definition(collective);
  const render::Boxes boxes = render::boxes(contract);
  Json document{{"collective", name(collective)}, {"kind", words.kind},
                {"definition", words.says},       {"use", words.use},
                {"ranks", contract.ranks},        {"boxes_read", boxes.read},
                {"boxes_written", boxes.written}};
  document["dual"] = render::has_dual(collective) ? Json(name(dual(collective))) : Json();
  document["compositions"] = Json::array();
  for (const render::Composition& each : render::compositions()) {
    if (each.whole != collective) continue;
    document["compositions"].push_back(Json::array({name(each.first), name(each.second)}));
  }
  const Bounds least = bounds(collective, contract.ranks, contract.ranks);
  const double whole = contract.ranks;
  document["bounds"] = {{"rounds", least.rounds},
                        {"sent", static_cast<double>(least.most_sent) / whole},
                        {"received", static_cast<double>(least.most_received) / whole},
                        {"total", static_cast<double>(least.bytes) / whole}};
  document["algorithms"] = Json::array();
  for (const Algorithm& each : algorithms(collective)) document["algorithms"].push_back(each.name);
  return json_text(document, 2) + "\n";
}

}  // namespace tutti::cli
