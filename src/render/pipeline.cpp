#include "render/pipeline.hpp"

namespace tutti::render {
namespace {

/// The number that a stage works on in a unit, counted from 0.
std::optional<std::size_t> work(std::size_t stage, std::size_t unit, std::size_t numbers) {
  if (unit < stage || unit - stage >= numbers) return {};
  return unit - stage;
}

}  // namespace

Pipeline run_pipeline(const std::vector<double>& numbers) {
  Pipeline run{.one_by_one = numbers.size() * Pipeline::stages};
  while (run.results.size() < numbers.size()) {
    const std::size_t unit = run.units.size();
    const Pipeline::Unit now{.squared = work(0, unit, numbers.size()),
                             .added = work(1, unit, numbers.size())};
    run.idle += (now.squared ? 0U : 1U) + (now.added ? 0U : 1U);
    run.messages += now.squared ? 1U : 0U;
    if (now.added) run.results.push_back(numbers[*now.added] * numbers[*now.added] + 5);
    run.units.push_back(now);
  }
  return run;
}

}  // namespace tutti::render
