#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/scale.hpp"

/// Line charts with logarithmic axes, as SVG.
namespace tutti::render {

/// A measured or computed point, and between what it mostly lies (p10 … p90), if that is known.
struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{};
  std::optional<double> high{};
};

/// A line with a name. The same name has the same colour and marker in every panel.
struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
};

/// A place on the x axis that means something, such as a crossover.
struct ChartMark {
  double x = 0;
  std::string label;
};

/// One pair of axes.
struct ChartPanel {
  /// What the y axis shows, in words: "time", "bus bandwidth".
  std::string title;
  Measure y = Measure::seconds;
  std::vector<ChartSeries> series;
  /// What nobody can beat: drawn dashed, named like the others.
  std::vector<ChartSeries> limits{};
  std::vector<ChartMark> marks{};
};

/// One or more panels over the same x axis.
struct Chart {
  std::string title;
  std::string subtitle{};
  /// What the x axis shows, in words: "size".
  std::string x_title = "size";
  Measure x = Measure::bytes;
  std::vector<ChartPanel> panels;
  enum class Arrangement { stacked, side_by_side };
  Arrangement arrangement = Arrangement::stacked;
};

/// The chart as an SVG document, in light and dark. Points that are not in order of x are sorted.
/// Throws invalid_argument if there is nothing to draw, or a number that a logarithmic axis cannot
/// show: zero, negative, infinite.
[[nodiscard]] std::string to_svg(const Chart& chart);

}  // namespace tutti::render
