#include "cli/explanation/pipeline_story.hpp"

#include "cli/console/text.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "render/numbers.hpp"
#include "render/pipeline.hpp"

namespace tutti::cli {
namespace {

std::string shown(double number) { return render::Numbers::text({number}); }

}  // namespace

std::string pipeline_story(const std::vector<double>& numbers) {
  using Align = TextTable::Align;
  const render::Pipeline run = render::run_pipeline(numbers);
  TextTable table({{"unit", Align::right},
                   {"rank 0: x²", Align::left},
                   {"message", Align::left},
                   {"rank 1: + 5", Align::left}});
  for (std::size_t i = 0; i < run.units.size(); ++i) {
    const render::Pipeline::Unit& unit = run.units[i];
    std::vector<std::string> cells{std::to_string(i + 1), "waits", "", "waits"};
    if (unit.squared) {
      const double x = numbers[*unit.squared];
      cells[1] = shown(x) + "² = " + shown(x * x);
      cells[2] = "0 → 1: " + shown(x * x);
    }
    if (unit.added) {
      const double square = numbers[*unit.added] * numbers[*unit.added];
      cells[3] = shown(square) + " + 5 = " + shown(square + 5);
    }
    table.add(std::move(cells));
  }
  const auto ranks = static_cast<double>(run.units.size() * render::Pipeline::stages);
  return "f(x) = x² + 5 in two stages, a textbook example of a pipeline: rank 0 squares, rank 1 "
         "adds.\n\n" +
         table.text() + "\n" + in_plural(numbers.size(), "number") +
         " take m + p − 1 = " + std::to_string(run.units.size()) +
         " units in a pipeline of p = 2 stages, and m·p = " + std::to_string(run.one_by_one) +
         " one by one.\nThere are " + in_plural(run.messages, "message") +
         ". A rank waits (p−1)/(m+p−1) = " + fixed(100 * static_cast<double>(run.idle) / ranks, 1) +
         " % of the time: the bubble.\n";
}

std::string pipeline_json(const std::vector<double>& numbers) {
  const render::Pipeline run = render::run_pipeline(numbers);
  Json document{{"units", run.units.size()},
                {"one_by_one", run.one_by_one},
                {"messages", run.messages},
                {"idle", run.idle}};
  document["results"] = Json(run.results);
  return json_text(document, 2) + "\n";
}

}  // namespace tutti::cli
