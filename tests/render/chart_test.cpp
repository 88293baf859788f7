#include "render/chart.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "render/label_stack.hpp"
#include "support/drawing.hpp"
#include "support/errors.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"

namespace tutti::render {
namespace {

using test::fault_in_drawing;

/// α + nβ for each size.
ChartSeries line(const std::string& name, double alpha, double beta) {
  ChartSeries series{.name = name, .points = {}};
  for (double n = 8; n <= 0x1p26; n *= 8) {
    const double y = alpha + n * beta;
    series.points.push_back({.x = n, .y = y, .low = y * 0.9, .high = y * 1.2});
  }
  return series;
}

Chart example() {
  Chart chart{.title = "allreduce, 4 ranks",
              .subtitle = "α = 1 µs, 1/β = 100 GB/s; the band is from p10 to p90",
              .panels = {}};
  ChartPanel time{.title = "time", .y = Measure::seconds, .series = {}};
  time.series = {line("allreduce/ring", 6e-6, 1.5e-11), line("allreduce/binomial", 4e-6, 4e-11)};
  time.marks = {{.x = 80000, .label = "78.1 KiB: the ring overtakes"}};
  ChartPanel rate{.title = "bus bandwidth", .y = Measure::bytes_per_second, .series = {}};
  for (const ChartSeries& each : time.series) {
    rate.series.push_back({.name = each.name, .points = {}});
    for (const ChartPoint& point : each.points) {
      rate.series.back().points.push_back({.x = point.x, .y = 1.5 * point.x / point.y});
    }
  }
  rate.limits = {{.name = "limit", .points = {{.x = 8, .y = 1e11}, {.x = 0x1p26, .y = 1e11}}}};
  chart.panels = {time, rate};
  return chart;
}

TEST(Chart, TwoPanelsGolden) { test::expect_golden("render/chart.svg", to_svg(example())); }

TEST(Chart, TextsDoNotOverlapIfManyLinesMeet) {
  for (const Chart::Arrangement arrangement :
       {Chart::Arrangement::stacked, Chart::Arrangement::side_by_side}) {
    Chart chart = example();
    chart.arrangement = arrangement;
    for (ChartPanel& panel : chart.panels) {
      for (int i = 0; i < 20; ++i) {
        panel.series.push_back(line("number " + std::to_string(i), 6e-6, 1.5e-11));
      }
      for (double x = 1000; x < 1100; x += 10) panel.marks.push_back({x, "a mark with a label"});
    }
    EXPECT_EQ(fault_in_drawing(to_svg(chart)), "");
  }
}

TEST(Chart, TextsDoNotOverlapForRandomValues) {
  test::Random random(7);
  for (int i = 0; i < 300; ++i) {
    Chart chart{.title = "random", .panels = {}};
    ChartPanel panel{.title = "y", .series = {}};
    panel.y = static_cast<Measure>(random.below(4U));
    const double base = std::pow(10, static_cast<double>(random.below(18U)) - 9);
    const double spread = std::pow(10, static_cast<double>(random.below(60U)) / 10);
    const auto draw = [&](double top) {
      return 1 + top * static_cast<double>(random.below(1000U));
    };
    for (std::uint64_t s = 0; s < 1 + random.below(6U); ++s) {
      ChartSeries series{.name = "series " + std::to_string(s), .points = {}};
      for (std::uint64_t k = 0; k < 1 + random.below(9U); ++k) {
        series.points.push_back(
            {.x = draw(1U << random.below(20U)), .y = base * draw(spread / 1000)});
      }
      panel.series.push_back(series);
    }
    chart.panels = {panel};
    EXPECT_EQ(fault_in_drawing(to_svg(chart)), "") << "i = " << i;
  }
}

TEST(Chart, RejectsInvalidValues) {
  test::expect_error([] { (void)to_svg({.title = "empty", .panels = {}}); },
                     ErrorCode::invalid_argument, "the chart has no points; nothing to draw");
  Chart chart = example();
  chart.panels[0].series[0].points[1].y = 0;
  test::expect_error([&] { (void)to_svg(chart); }, ErrorCode::invalid_argument,
                     "'allreduce/ring' has the value 0");
}

TEST(Chart, EqualNamesHaveEqualColours) {
  Chart chart = example();
  std::swap(chart.panels[1].series[0], chart.panels[1].series[1]);
  const std::string svg = to_svg(chart);
  for (const std::string colour : {"series-0", "series-1"}) {
    EXPECT_NE(svg.find("class=\"" + colour + "\">allreduce/" +
                       (colour == "series-0" ? "ring" : "binomial")),
              std::string::npos);
  }
}

TEST(Scale, FormatsAmountsWithUnits) {
  EXPECT_EQ(in_words(Measure::bytes, 8), "8 B");
  EXPECT_EQ(in_words(Measure::bytes, 1024), "1 KiB");
  EXPECT_EQ(in_words(Measure::bytes, 64 * 1024 * 1024), "64 MiB");
  EXPECT_EQ(in_words(Measure::seconds, 20e-6), "20 µs");
  EXPECT_EQ(in_words(Measure::seconds, 999.9e-6), "1 ms");
  EXPECT_EQ(in_words(Measure::seconds, 1.234e-6), "1.23 µs");
  EXPECT_EQ(in_words(Measure::bytes_per_second, 12.5e9), "12.5 GB/s");
  EXPECT_EQ(in_words(Measure::ratio, 0.25), "0.25");
}

TEST(Scale, TicksAreFewAndRound) {
  const LogScale bytes(Measure::bytes, 8, 0x1p26);
  EXPECT_EQ(bytes.ticks(24).size(), 24);
  EXPECT_EQ(bytes.ticks(3), (std::vector<double>{0x1p10, 0x1p20}));
  const LogScale times(Measure::seconds, 3e-6, 40e-6);
  EXPECT_DOUBLE_EQ(times.place(2e-6), 0);
  EXPECT_DOUBLE_EQ(times.place(50e-6), 1);
  EXPECT_EQ(times.ticks(8).size(), 5);
}

TEST(LabelStack, PushesApartAndKeepsOrder) {
  const std::vector<double> placed = push_apart({50, 52, 51, 90}, 10, 0, 100);
  EXPECT_DOUBLE_EQ(placed[0], 41);
  EXPECT_DOUBLE_EQ(placed[2], 51);
  EXPECT_DOUBLE_EQ(placed[1], 61);
  EXPECT_DOUBLE_EQ(placed[3], 90);
}

TEST(LabelStack, StaysInside) {
  const std::vector<double> placed = push_apart({99, 99, 99}, 10, 0, 100);
  EXPECT_DOUBLE_EQ(placed[0], 80);
  EXPECT_DOUBLE_EQ(placed[2], 100);
}

TEST(LabelStack, IntervalsThatTouchTakeAnotherRow) {
  EXPECT_EQ(rows_for({{0, 10}, {12, 20}, {5, 9}, {30, 40}}, 4),
            (std::vector<std::size_t>{0, 1, 2, 0}));
}

}  // namespace
}  // namespace tutti::render
