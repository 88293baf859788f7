#include "cli/bench/plot.hpp"

#include <algorithm>

#include <tutti/version.hpp>

#include "render/chart.hpp"

namespace tutti::cli {
namespace {

using render::Chart;
using render::ChartPoint;
using render::ChartSeries;
using render::Measure;

/// Two charts of the same points: time and bandwidth. The axes are logarithmic, so rows of size
/// zero (a barrier) are left out.
class Plot {
 public:
  void add(const std::string& line, const measure::Row& row, const measure::Timing& timing) {
    if (row.bytes == 0) return;
    const auto x = static_cast<double>(row.bytes);
    const auto seconds = [](double microseconds) { return microseconds * 1e-6; };
    const auto rate = [&](double microseconds) {
      return x / seconds(microseconds) * measure::bus_factor(row.what.collective, row.ranks);
    };
    series(times_, line)
        .points.push_back({.x = x,
                           .y = seconds(timing.median),
                           .low = seconds(timing.p10),
                           .high = seconds(timing.p90)});
    if (row.ranks > 1) {
      series(rates_, line)
          .points.push_back({.x = x,
                             .y = rate(timing.median),
                             .low = rate(timing.p90),
                             .high = rate(timing.p10)});
    }
    if (row.limit) add_limit(x, seconds(*row.limit), rate(*row.limit));
  }

  [[nodiscard]] std::string svg(const measure::Report& report) const {
    Chart chart{.title = std::string(name(report.collective)) + ", " + report.transport,
                .subtitle = "tutti " + std::string(version) + "; median, 10th and 90th percentile",
                .panels = {{.title = "time", .y = Measure::seconds, .series = times_}},
                .arrangement = Chart::Arrangement::side_by_side};
    if (!rates_.empty()) {
      chart.panels.push_back(
          {.title = "bus bandwidth", .y = Measure::bytes_per_second, .series = rates_});
    }
    if (!limit_times_.points.empty()) {
      chart.panels[0].limits = {limit_times_};
      if (!rates_.empty()) chart.panels[1].limits = {limit_rates_};
    }
    return render::to_svg(chart);
  }

 private:
  using List = std::vector<ChartSeries>;

  static ChartSeries& series(List& list, const std::string& called) {
    const auto at = std::find_if(list.begin(), list.end(),
                                 [&](const ChartSeries& each) { return each.name == called; });
    if (at != list.end()) return *at;
    return list.emplace_back(ChartSeries{.name = called, .points = {}});
  }

  void add_limit(double x, double seconds, double rate) {
    const auto& points = limit_times_.points;
    const bool known = std::any_of(points.begin(), points.end(),
                                   [x](const ChartPoint& each) { return each.x == x; });
    if (known) return;
    limit_times_.points.push_back({.x = x, .y = seconds});
    limit_rates_.points.push_back({.x = x, .y = rate});
  }

  List times_;
  List rates_;
  ChartSeries limit_times_{.name = "limit", .points = {}};
  ChartSeries limit_rates_{.name = "limit", .points = {}};
};

/// The name of the line that a row belongs to: its algorithm, and its type and operation if there
/// are several.
std::string line_of(const measure::Report& report, const measure::Row& row) {
  const measure::Case& first = report.rows.front().what;
  const auto differ = [&](auto member) {
    return std::any_of(report.rows.begin(), report.rows.end(), [&](const measure::Row& each) {
      return each.what.*member != first.*member;
    });
  };
  std::string text = row.what.algorithm.empty() ? "tutti" : row.what.algorithm;
  if (differ(&measure::Case::dtype)) text += " " + std::string(name(row.what.dtype));
  if (differ(&measure::Case::op)) text += " " + std::string(op_name(row.what));
  return text;
}

}  // namespace

std::string plot_of(const measure::Report& report, const std::vector<PlottedTime>& times) {
  Plot plot;
  for (const PlottedTime& each : times) plot.add(each.line, each.row, each.timing);
  return plot.svg(report);
}

std::string plot_of(const measure::Report& report) {
  std::vector<PlottedTime> times;
  for (const measure::Row& row : report.rows) {
    times.push_back({line_of(report, row), row, row.out_of_place.timing});
  }
  return plot_of(report, times);
}

}  // namespace tutti::cli
