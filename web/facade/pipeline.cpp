#include "render/pipeline.hpp"

#include "core/json_value.hpp"
#include "render/numbers.hpp"
#include "web/facade/explorer.hpp"

namespace tutti::web {
namespace {

Json index_or_null(const std::optional<std::size_t>& index) {
  return index ? Json(*index) : Json();
}

}  // namespace

/// f(x) = x² + 5 of "values" in two stages, unit by unit.
Json pipeline(Explorer& /*explorer*/, const JsonReader& arguments) {
  std::vector<double> numbers;
  for (const auto& row : render::Numbers::parse(arguments.at("values").string())) {
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  const render::Pipeline run = render::run_pipeline(numbers);
  Json timeline = Json::array();
  for (const render::Pipeline::Unit& each : run.units) {
    timeline.push_back(Json::array({index_or_null(each.squared), index_or_null(each.added)}));
  }
  return {{"numbers", Json(numbers)},    {"timeline", std::move(timeline)},
          {"units", run.units.size()},   {"one_by_one", run.one_by_one},
          {"messages", run.messages},    {"idle", run.idle},
          {"results", Json(run.results)}};
}

}  // namespace tutti::web
