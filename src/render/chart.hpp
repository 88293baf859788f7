#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/scale.hpp"

/// Line charts with logarithmic axes, as SVG.
namespace tutti::render {

/// A measured or computed point, with its range p10 … p90 if known.
struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{};
  std::optional<double> high{};
};

/// A line with a name. Equal names have equal colours and markers in all panels.
struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
};

/// A labelled position on the x axis, such as a crossover.
struct ChartMark {
  double x = 0;
  std::string label;
};

/// One pair of axes.
struct ChartPanel {
  /// The quantity on the y axis: "time", "bus bandwidth".
  std::string title;
  Measure y = Measure::seconds;
  std::vector<ChartSeries> series;
  /// Lower or upper bounds: drawn dashed, with a name like the other lines.
  std::vector<ChartSeries> limits{};
  std::vector<ChartMark> marks{};
};

/// One or more panels over the same x axis.
struct Chart {
  std::string title;
  std::string subtitle{};
  /// The quantity on the x axis: "size".
  std::string x_title = "size";
  Measure x = Measure::bytes;
  std::vector<ChartPanel> panels;
  enum class Arrangement { stacked, side_by_side };
  Arrangement arrangement = Arrangement::stacked;
};

/// Draws the chart as an SVG document with light and dark colours. Sorts points by x. Throws
/// invalid_argument if there are no points, or if a value cannot be shown on a logarithmic axis:
/// zero, negative or infinite.
[[nodiscard]] std::string to_svg(const Chart& chart);

}  // namespace tutti::render
