#include "cli/simulation/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/console/text.hpp"
#include "core/quantity.hpp"
#include "render/chart.hpp"

namespace tutti::cli {
namespace {

/// As many lines as a reader can tell apart, first those that are fast at many sizes.
std::vector<std::size_t> worth_drawing(const SimSweep& sweep) {
  constexpr std::size_t most = 8;
  std::vector<double> score(sweep.names.size(), 0);
  for (std::size_t k = 0; k < sweep.sizes.size(); ++k) {
    const double least = sweep.seconds[sweep.best(k)][k];
    for (std::size_t i = 0; i < score.size(); ++i) {
      score[i] += i == sweep.best(k) ? -1e3 : std::log(sweep.seconds[i][k] / least);
    }
  }
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] < score[b]; });
  order.resize(std::min(order.size(), most));
  return order;
}

}  // namespace

std::size_t SimSweep::best(std::size_t size) const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < seconds.size(); ++i) {
    if (seconds[i][size] < seconds[found][size]) found = i;
  }
  return found;
}

std::vector<std::uint64_t> sizes_between(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> sizes;
  constexpr std::uint64_t step = 4;
  for (std::uint64_t size = std::max<std::uint64_t>(1, from); size <= to; size *= step) {
    sizes.push_back(size);
    if (size > to / step) break;
  }
  return sizes;
}

std::string sweep_text(const SimSweep& sweep) {
  std::vector<std::pair<std::string, TextTable::Align>> columns{
      {"algorithm", TextTable::Align::left}};
  for (const std::uint64_t size : sweep.sizes) {
    columns.emplace_back(format_bytes(size), TextTable::Align::right);
  }
  TextTable table(columns);
  for (std::size_t i = 0; i < sweep.names.size(); ++i) {
    std::vector<std::string> cells{sweep.names[i]};
    for (std::size_t k = 0; k < sweep.sizes.size(); ++k) {
      cells.push_back((sweep.best(k) == i ? "*" : "") + format_seconds(sweep.seconds[i][k]));
    }
    table.add(std::move(cells));
  }
  std::string text = sweep.network + ", " + std::to_string(sweep.ranks) +
                     " ranks; * is the fastest\n" + sweep.rules + "\n\n" + table.text();
  for (std::size_t k = 0; k < sweep.sizes.size(); ++k) {
    if (k > 0 && sweep.best(k) == sweep.best(k - 1)) continue;
    text += (k == 0 ? "\nfrom " : "from ") + format_bytes(sweep.sizes[k]) +
            " on: " + sweep.names[sweep.best(k)] + "\n";
  }
  return text;
}

std::string sweep_json(const SimSweep& sweep) {
  Json list = Json::array();
  for (std::size_t i = 0; i < sweep.names.size(); ++i) {
    list.push_back({{"algorithm", sweep.names[i]}, {"seconds", sweep.seconds[i]}});
  }
  const Json document{{"network", sweep.network},
                      {"ranks", sweep.ranks},
                      {"rules", sweep.rules_as_json},
                      {"sizes", sweep.sizes},
                      {"algorithms", std::move(list)}};
  return json_text(document, 2) + "\n";
}

std::string sweep_svg(const SimSweep& sweep) {
  render::ChartPanel panel{.title = "time", .y = render::Measure::seconds, .series = {}};
  for (const std::size_t i : worth_drawing(sweep)) {
    render::ChartSeries series{.name = sweep.names[i], .points = {}};
    for (std::size_t k = 0; k < sweep.sizes.size(); ++k) {
      series.points.push_back({.x = static_cast<double>(sweep.sizes[k]), .y = sweep.seconds[i][k]});
    }
    panel.series.push_back(std::move(series));
  }
  for (std::size_t k = 1; k < sweep.sizes.size(); ++k) {
    if (sweep.best(k) == sweep.best(k - 1)) continue;
    panel.marks.push_back(
        {.x = static_cast<double>(sweep.sizes[k]), .label = sweep.names[sweep.best(k)]});
  }
  return render::to_svg(
      {.title = "simulated time by size",
       .subtitle = sweep.network + ", " + std::to_string(sweep.ranks) + " ranks; " + sweep.rules,
       .panels = {std::move(panel)}});
}

}  // namespace tutti::cli
