#include "cli/explanation/pipeline_story.hpp"

#include <optional>

#include "cli/console/text.hpp"
#include "core/json.hpp"
#include "core/quantity.hpp"
#include "render/numbers.hpp"

namespace tutti::cli {
namespace {

constexpr std::size_t stages = 2;

std::string shown(double number) { return render::Numbers::text({number}); }

/// The number that a stage works on in a unit, counted from 0; none if it waits.
std::optional<std::size_t> work(std::size_t stage, std::size_t unit, std::size_t numbers) {
  if (unit < stage || unit - stage >= numbers) return {};
  return unit - stage;
}

}  // namespace

PipelineCount count_pipeline(const std::vector<double>& numbers) {
  PipelineCount count{.one_by_one = numbers.size() * stages};
  std::size_t done = 0;
  for (; done < numbers.size(); ++count.units) {
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const auto number = work(stage, count.units, numbers.size());
      if (!number) ++count.idle;
      if (number && stage == 0) ++count.messages;
      if (number && stage == 1) {
        const double x = numbers[*number];
        count.results.push_back(x * x + 5);
        ++done;
      }
    }
  }
  return count;
}

std::string pipeline_story(const std::vector<double>& numbers) {
  using Align = TextTable::Align;
  const PipelineCount count = count_pipeline(numbers);
  TextTable table({{"unit", Align::right},
                   {"rank 0: x²", Align::left},
                   {"message", Align::left},
                   {"rank 1: + 5", Align::left}});
  for (std::size_t unit = 0; unit < count.units; ++unit) {
    std::vector<std::string> cells{std::to_string(unit + 1), "waits", "", "waits"};
    if (const auto i = work(0, unit, numbers.size())) {
      const double square = numbers[*i] * numbers[*i];
      cells[1] = shown(numbers[*i]) + "² = " + shown(square);
      cells[2] = "0 → 1: " + shown(square);
    }
    if (const auto i = work(1, unit, numbers.size())) {
      const double square = numbers[*i] * numbers[*i];
      cells[3] = shown(square) + " + 5 = " + shown(square + 5);
    }
    table.add(std::move(cells));
  }
  const auto ranks = static_cast<double>(count.units * stages);
  return "f(x) = x² + 5 in two stages, the lectures' example of a pipeline: rank 0 squares, rank 1 "
         "adds.\n\n" +
         table.text() + "\n" + in_plural(numbers.size(), "number") +
         " take m + p − 1 = " + std::to_string(count.units) +
         " units in a pipeline of p = 2 stages, and m·p = " + std::to_string(count.one_by_one) +
         " one by one.\nThere are " + in_plural(count.messages, "message") +
         ". A rank waits (p−1)/(m+p−1) = " +
         fixed(100 * static_cast<double>(count.idle) / ranks, 1) + " % of the time: the bubble.\n";
}

std::string pipeline_json(const std::vector<double>& numbers) {
  const PipelineCount count = count_pipeline(numbers);
  Json document{{"units", count.units},
                {"one_by_one", count.one_by_one},
                {"messages", count.messages},
                {"idle", count.idle}};
  document["results"] = Json(count.results);
  return document.dump(2) + "\n";
}

}  // namespace tutti::cli
