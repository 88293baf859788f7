#include "cli/choice/regret_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "cli/console/text.hpp"
#include "cli/measure/quantile.hpp"
#include "core/quantity.hpp"

namespace tutti::cli {
namespace {

using measure::RegretRow;

double quantile_of(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return measure::quantile(values, part);
}

std::string number(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// The errors of the predicted times, over all algorithms that were not hopelessly slow.
std::string describe_residuals(const std::vector<RegretRow>& rows) {
  using Align = TextTable::Align;
  TextTable table({{"ranks", Align::right},
                   {"by", Align::left},
                   {"times", Align::right},
                   {"error: median", Align::right},
                   {"p90", Align::right},
                   {"measured/predicted: p10", Align::right},
                   {"p50", Align::right},
                   {"p90", Align::right},
                   {"model alone: median error", Align::right}});
  std::map<std::pair<std::uint32_t, Pairs>, std::array<std::vector<double>, 3>> groups;
  for (const RegretRow& row : rows) {
    for (const RegretRow::Runner& each : row.runners) {
      if (each.seconds > measure::hopeless_regret * row.runners.front().seconds) continue;
      auto& [errors, ratios, model_errors] = groups[{row.ranks, row.pairs}];
      errors.push_back(std::abs(each.expected / each.seconds - 1));
      ratios.push_back(each.seconds / each.expected);
      model_errors.push_back(std::abs(each.modelled / each.seconds - 1));
    }
  }
  for (const auto& [group, lists] : groups) {
    const auto& [errors, ratios, model_errors] = lists;
    table.add({std::to_string(group.first), std::string(name(group.second)),
               std::to_string(errors.size()), number("%.0f %%", 100 * quantile_of(errors, 0.5)),
               number("%.0f %%", 100 * quantile_of(errors, 0.9)),
               number("%.2f", quantile_of(ratios, 0.1)), number("%.2f", quantile_of(ratios, 0.5)),
               number("%.2f", quantile_of(ratios, 0.9)),
               number("%.0f %%", 100 * quantile_of(model_errors, 0.5))});
  }
  return table.text();
}

}  // namespace

std::string regret_table(const std::vector<RegretRow>& rows) {
  using Align = TextTable::Align;
  TextTable table({{"collective", Align::left},
                   {"ranks", Align::right},
                   {"by", Align::left},
                   {"size", Align::right},
                   {"chosen", Align::left},
                   {"time", Align::right},
                   {"predicted", Align::right},
                   {"fastest", Align::left},
                   {"time", Align::right},
                   {"regret", Align::right}});
  std::vector<double> regrets;
  for (const RegretRow& row : rows) {
    const RegretRow::Runner& best = row.runners.front();
    regrets.push_back(row.regret());
    table.add({std::string(name(row.collective)), std::to_string(row.ranks),
               std::string(name(row.pairs)), format_bytes(row.bytes),
               row.chosen.substr(row.chosen.find('/') + 1), format_seconds(row.choice().seconds),
               format_seconds(row.choice().expected),
               best.algorithm.substr(best.algorithm.find('/') + 1), format_seconds(best.seconds),
               number("%.2f", row.regret())});
  }
  const auto within =
      std::count_if(regrets.begin(), regrets.end(), [](double regret) { return regret <= 1.10; });
  return table.text() + "\n" +
         number("%.1f %%", 100.0 * static_cast<double>(within) /
                               static_cast<double>(std::max<std::size_t>(regrets.size(), 1))) +
         " of " + std::to_string(regrets.size()) +
         " choices within 10 % of the fastest; the worst takes " +
         number("%.2f", quantile_of(regrets, 1)) + " times as long, 95 % at most " +
         number("%.2f", quantile_of(regrets, 0.95)) + " times\n\n" + describe_residuals(rows);
}

}  // namespace tutti::cli
