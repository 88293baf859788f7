#include <tutti/collective.hpp>
#include <tutti/network/generator.hpp>
#include <tutti/schedule/closed_form.hpp>
#include <tutti/version.hpp>

#include "core/json_value.hpp"
#include "render/definition.hpp"
#include "render/reason.hpp"
#include "web/facade/explorer.hpp"

namespace tutti::web {
namespace {

/// The ways to make a collective of others, in words.
Json parts_of(Collective collective) {
  Json parts = Json::array();
  for (const render::Composition& each : render::compositions()) {
    if (each.whole != collective) continue;
    parts.push_back(std::string(name(each.first)) + ", then " + std::string(name(each.second)) +
                    ": " + std::string(each.algorithms));
  }
  const std::string_view otherwise = render::definition(collective).otherwise;
  if (!otherwise.empty()) parts.push_back(otherwise);
  return parts;
}

Json describe(Collective collective) {
  const render::Definition& words = render::definition(collective);
  return {{"name", name(collective)},
          {"root", has_root(collective)},
          {"reduces", is_reduction(collective)},
          {"blocks", has_block_per_rank(collective)},
          {"dual", render::has_dual(collective) ? Json(name(dual(collective))) : Json()},
          {"kind", words.kind},
          {"says", words.says},
          {"use", words.use},
          {"parts", parts_of(collective)}};
}

Json describe(const Algorithm& algorithm) {
  Json entry{{"name", algorithm.name},
             {"collective", name(algorithm.collective)},
             {"summary", algorithm.summary},
             {"order", algorithm.order},
             {"dimensions", Json::array({algorithm.dimensions.least, algorithm.dimensions.most})},
             {"limits", algorithm.limits}};
  if (const render::Reason* const reason = render::find_reason(algorithm.name)) {
    entry["reason"] = {{"idea", reason->idea}, {"why", reason->why}, {"bound", reason->bound}};
  }
  if (const ClosedForm* const form = find_closed_form(algorithm.name)) {
    entry["formulas"] = {{"rounds", form->rounds},
                         {"bytes", form->bytes},
                         {"most_in_a_round", form->most_in_a_round},
                         {"seconds", form->seconds}};
  }
  return entry;
}

Json describe(const Generator& generator) {
  Json parameters = Json::array();
  for (const Parameter& each : generator.parameters) {
    parameters.push_back(
        {{"name", each.name}, {"default", each.otherwise}, {"summary", each.summary}});
  }
  return {{"name", generator.name},
          {"summary", generator.summary},
          {"example", generator.example},
          {"parameters", std::move(parameters)}};
}

}  // namespace

/// Everything there is to choose from.
Json catalogue(Explorer& /*explorer*/, const JsonReader& /*arguments*/) {
  Json whole;
  whole["version"] = version;
  for (const Collective each : collectives()) whole["collectives"].push_back(describe(each));
  for (const Algorithm& each : algorithms()) whole["algorithms"].push_back(describe(each));
  for (const Generator& each : generators()) whole["networks"].push_back(describe(each));
  return whole;
}

}  // namespace tutti::web
