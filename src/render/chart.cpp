#include "render/chart.hpp"

#include <algorithm>
#include <cmath>

#include <tutti/error.hpp>

#include "render/label_stack.hpp"
#include "render/marker.hpp"
#include "render/style.hpp"
#include "render/svg.hpp"

namespace tutti::render {
namespace {

constexpr double margin = 20;
constexpr double title_size = 18;
constexpr double word_size = 12.5;
constexpr double tick_size = 11.5;
constexpr double line_height = 17;
constexpr double label_gap = 14;  // From the end of a line to its label.
constexpr double widest_label = 240;
constexpr double least_height = 250;
constexpr double panel_gap = 24;

struct Range {
  double low = 0;
  double high = 0;

  void include(double value) {
    if (low == 0) low = high = value;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

void check(const std::string& what, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(ErrorCode::invalid_argument,
              "'" + what + "' has the value " + std::to_string(value) +
                  ", which a logarithmic axis cannot show; omit the point");
}

/// The chart with every line sorted by x, and without empty lines.
Chart prepared(Chart chart) {
  bool any = false;
  for (ChartPanel& panel : chart.panels) {
    for (auto* const all : {&panel.series, &panel.limits}) {
      std::erase_if(*all, [](const ChartSeries& each) { return each.points.empty(); });
      for (ChartSeries& series : *all) {
        std::stable_sort(series.points.begin(), series.points.end(),
                         [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
        for (const ChartPoint& point : series.points) {
          for (const double value :
               {point.x, point.y, point.low.value_or(point.y), point.high.value_or(point.y)}) {
            check(series.name, value);
          }
        }
      }
    }
    for (const ChartMark& mark : panel.marks) check(mark.label, mark.x);
    any = any || !panel.series.empty();
  }
  if (!any) throw Error(ErrorCode::invalid_argument, "the chart has no points; nothing to draw");
  std::erase_if(chart.panels, [](const ChartPanel& panel) {
    return panel.series.empty() && panel.limits.empty();
  });
  return chart;
}

template <class Visit>
void for_each_line(const ChartPanel& panel, Visit visit) {
  for (const ChartSeries& each : panel.series) visit(each, false);
  for (const ChartSeries& each : panel.limits) visit(each, true);
}

/// The names of series in order of first appearance. The index determines the colour.
std::vector<std::string> names(const Chart& chart) {
  std::vector<std::string> found;
  for (const ChartPanel& panel : chart.panels) {
    for (const ChartSeries& each : panel.series) {
      if (std::find(found.begin(), found.end(), each.name) == found.end()) {
        found.push_back(each.name);
      }
    }
  }
  return found;
}

Range x_range(const Chart& chart) {
  Range range;
  for (const ChartPanel& panel : chart.panels) {
    for_each_line(panel, [&](const ChartSeries& series, bool) {
      for (const ChartPoint& point : series.points) range.include(point.x);
    });
    for (const ChartMark& mark : panel.marks) range.include(mark.x);
  }
  return range;
}

Range y_range(const ChartPanel& panel) {
  Range range;
  for_each_line(panel, [&](const ChartSeries& series, bool) {
    for (const ChartPoint& point : series.points) {
      range.include(point.y);
      range.include(point.low.value_or(point.y));
      range.include(point.high.value_or(point.y));
    }
  });
  return range;
}

/// A panel with its position on the page.
struct PlacedPanel {
  const ChartPanel* panel;
  LogScale y;
  std::vector<double> y_ticks;
  std::vector<std::size_t> mark_rows;
  double left = 0;  ///< Left edge of the plot, without labels.
  double top = 0;
  double height = 0;

  [[nodiscard]] double head() const {
    const auto last = std::max_element(mark_rows.begin(), mark_rows.end());
    const double rows = last == mark_rows.end() ? 0 : static_cast<double>(*last + 1);
    return (panel->title.empty() ? 8 : line_height + 14) + rows * (line_height - 2);
  }
};

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart),
        names_(names(chart)),
        range_(x_range(chart)),
        x_(chart.x, range_.low, range_.high),
        width_(chart.arrangement == Chart::Arrangement::stacked ? 600 : 440) {
    for (const ChartPanel& panel : chart.panels) measure(panel);
    place();
  }

  [[nodiscard]] std::string draw() const {
    Svg svg(paper_width_, paper_height_, chart_.title, description());
    double y = margin + title_size;
    svg.text({margin, y}, fitted(chart_.title, title_size * 1.1, paper_width_ - 2 * margin),
             {.size = title_size, .style = "ink bold"});
    for (const std::string& line : subtitle_) {
      y += line_height;
      svg.text({margin, y}, line, {.size = word_size, .style = "soft"});
    }
    for (const PlacedPanel& panel : panels_) draw(svg, panel);
    return svg.document();
  }

 private:
  void measure(const ChartPanel& panel) {
    const Range range = y_range(panel);
    const LogScale scale(panel.y, range.low, range.high);
    constexpr std::size_t most_ticks = 8;
    PlacedPanel placed{
        .panel = &panel, .y = scale, .y_ticks = scale.ticks(most_ticks), .mark_rows = {}};
    for (const double tick : placed.y_ticks) {
      tick_width_ = std::max(tick_width_, text_width(in_words(panel.y, tick), tick_size));
    }
    std::size_t lines = 0;
    for_each_line(panel, [&](const ChartSeries& series, bool) {
      ++lines;
      label_width_ =
          std::max(label_width_, std::min(widest_label, text_width(series.name, word_size)));
    });
    std::vector<Interval> labels;
    for (const ChartMark& mark : panel.marks) {
      const Point at = mark_label(mark);
      const double half = text_width(mark.label, tick_size) / 2;
      labels.push_back({at.x - half, at.x + half});
    }
    placed.mark_rows = rows_for(labels, 8);
    placed.height = std::max(least_height, static_cast<double>(lines) * line_height);
    panels_.push_back(placed);
  }

  /// Relative to the left edge of the plot; clamped to the plot.
  [[nodiscard]] Point mark_label(const ChartMark& mark) const {
    const double half = text_width(mark.label, tick_size) / 2;
    const double wanted = x_.place(mark.x) * width_;
    return {std::max(half, std::min(wanted, width_ - half)), 0};
  }

  void place() {
    const bool stacked = chart_.arrangement == Chart::Arrangement::stacked;
    const double before = tick_width_ + 10;
    const double whole = before + width_ + label_gap + label_width_;
    const auto columns = static_cast<double>(stacked ? 1 : panels_.size());
    paper_width_ = 2 * margin + columns * whole + (columns - 1) * panel_gap;
    subtitle_ = wrapped(chart_.subtitle, word_size, paper_width_ - 2 * margin);
    double y = margin + title_size + static_cast<double>(subtitle_.size()) * line_height + 20;
    double head = 0;
    double height = 0;
    for (const PlacedPanel& panel : panels_) {
      head = std::max(head, panel.head());
      height = std::max(height, panel.height);
    }
    double x = margin + before;
    constexpr double foot = 2 * line_height + 8;  // Tick labels and the axis title.
    for (PlacedPanel& panel : panels_) {
      panel.left = x;
      if (stacked) {
        panel.top = y + panel.head();
        y = panel.top + panel.height + foot + panel_gap;
      } else {
        panel.top = y + head;
        panel.height = height;
        x += whole + panel_gap;
      }
    }
    paper_height_ = (stacked ? y - panel_gap : y + head + height + foot) + margin - 8;
  }

  [[nodiscard]] std::string description() const {
    std::string text = chart_.subtitle;
    for (const ChartPanel& panel : chart_.panels) {
      text += (text.empty() ? "" : ". ") + panel.title + " over " + chart_.x_title + ":";
      for_each_line(panel, [&](const ChartSeries& each, bool limit) {
        const ChartPoint& last = each.points.back();
        text += " " + each.name + (limit ? " (limit)" : "") + " ends at " +
                in_words(panel.y, last.y) + ";";
      });
      text.back() = '.';
    }
    return text;
  }

  [[nodiscard]] Point at(const PlacedPanel& panel, double x, double y) const {
    return {panel.left + x_.place(x) * width_, panel.top + (1 - panel.y.place(y)) * panel.height};
  }

  void draw(Svg& svg, const PlacedPanel& panel) const {
    svg.begin("g", {{"class", "panel-of-chart"}});
    if (!panel.panel->title.empty()) {
      svg.text({margin + panel.left - panels_.front().left, panel.top - panel.head() + line_height},
               panel.panel->title, {.size = word_size, .style = "ink bold"});
    }
    draw_axes(svg, panel);
    draw_marks(svg, panel);
    for_each_line(*panel.panel, [&](const ChartSeries& series, bool limit) {
      limit ? draw_limit(svg, panel, series) : draw_series(svg, panel, series);
    });
    draw_labels(svg, panel);
    svg.end();
  }

  void draw_axes(Svg& svg, const PlacedPanel& panel) const {
    const double right = panel.left + width_;
    const double bottom = panel.top + panel.height;
    for (const double tick : panel.y_ticks) {
      const double y = at(panel, range_.low, tick).y;
      svg.line({panel.left, y}, {right, y}, "faint-line thin");
      svg.text({panel.left - 8, y + tick_size * 0.36}, in_words(panel.panel->y, tick),
               {.size = tick_size, .style = "soft", .anchor = Anchor::end});
    }
    constexpr double tick_room = 68;
    for (const double tick : x_.ticks(static_cast<std::size_t>(width_ / tick_room))) {
      const double x = panel.left + x_.place(tick) * width_;
      svg.line({x, panel.top}, {x, bottom + 4}, "faint-line thin");
      svg.text({x, bottom + line_height}, in_words(chart_.x, tick),
               {.size = tick_size, .style = "soft", .anchor = Anchor::middle});
    }
    svg.line({panel.left, bottom}, {right, bottom}, "soft-line thin");
    svg.text({panel.left + width_ / 2, bottom + 2 * line_height}, chart_.x_title,
             {.size = tick_size, .style = "soft", .anchor = Anchor::middle});
  }

  void draw_marks(Svg& svg, const PlacedPanel& panel) const {
    const std::vector<ChartMark>& marks = panel.panel->marks;
    const auto height = [&](std::size_t i) {
      return panel.top - 6 - static_cast<double>(panel.mark_rows[i]) * (line_height - 2);
    };
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const double x = panel.left + x_.place(marks[i].x) * width_;
      svg.line({x, height(i) + 3}, {x, panel.top + panel.height}, "ink-line thin dotted");
    }
    // After all lines, and with a halo, since the line of one mark may cross the label of another.
    for (std::size_t i = 0; i < marks.size(); ++i) {
      svg.text({panel.left + mark_label(marks[i]).x, height(i)}, marks[i].label,
               {.size = tick_size, .style = "ink paper-line halo", .anchor = Anchor::middle});
    }
  }

  [[nodiscard]] std::size_t colour(const ChartSeries& series) const {
    const auto found = std::find(names_.begin(), names_.end(), series.name);
    return static_cast<std::size_t>(found - names_.begin());
  }

  [[nodiscard]] std::string paint(const ChartSeries& series) const {
    return "series-" + std::to_string(colour(series) % series_colours);
  }

  [[nodiscard]] std::string line_through(const PlacedPanel& panel,
                                         const ChartSeries& series) const {
    PathData data;
    for (const ChartPoint& point : series.points) {
      const Point to = at(panel, point.x, point.y);
      data.empty() ? data.move(to) : data.line(to);
    }
    return data.text();
  }

  void draw_band(Svg& svg, const PlacedPanel& panel, const ChartSeries& series) const {
    const auto has_band = [](const ChartPoint& point) { return point.low || point.high; };
    if (std::none_of(series.points.begin(), series.points.end(), has_band)) return;
    std::vector<Point> rim;  // Along the top and back along the bottom.
    for (const ChartPoint& point : series.points) {
      rim.push_back(at(panel, point.x, point.high.value_or(point.y)));
    }
    const auto back = static_cast<std::ptrdiff_t>(rim.size());
    for (const ChartPoint& point : series.points) {
      rim.push_back(at(panel, point.x, point.low.value_or(point.y)));
    }
    std::reverse(rim.begin() + back, rim.end());
    PathData data;
    for (const Point& to : rim) data.empty() ? data.move(to) : data.line(to);
    svg.path(data.close().text(), paint(series) + " band");
  }

  void draw_series(Svg& svg, const PlacedPanel& panel, const ChartSeries& series) const {
    draw_band(svg, panel, series);
    // When the colours repeat, broken lines mark the second use.
    const bool again = colour(series) >= series_colours;
    svg.path(line_through(panel, series),
             paint(series) + (again ? "-line line broken" : "-line line"));
    for (const ChartPoint& point : series.points) {
      svg.begin("g", {{"class", "point"}});
      svg.tooltip(series.name + ", " + in_words(chart_.x, point.x) + ": " +
                  in_words(panel.panel->y, point.y));
      draw_marker(svg, colour(series), at(panel, point.x, point.y), paint(series));
      svg.end();
    }
  }

  void draw_limit(Svg& svg, const PlacedPanel& panel, const ChartSeries& series) const {
    svg.path(line_through(panel, series), "soft-line line dashed");
  }

  /// The labels at the right, each as near as possible to the end of its line.
  void draw_labels(Svg& svg, const PlacedPanel& panel) const {
    std::vector<double> wanted;
    for_each_line(*panel.panel, [&](const ChartSeries& series, bool) {
      const ChartPoint& last = series.points.back();
      wanted.push_back(at(panel, last.x, last.y).y);
    });
    const double half = line_height / 2;
    const std::vector<double> placed =
        push_apart(wanted, line_height, panel.top + half, panel.top + panel.height - half);
    std::size_t i = 0;
    for_each_line(*panel.panel, [&](const ChartSeries& series, bool limit) {
      const std::string style = limit ? "soft" : paint(series);
      const ChartPoint& last = series.points.back();
      const Point end = at(panel, last.x, last.y);
      const Point label{panel.left + width_ + label_gap, placed[i++]};
      PathData leader;
      leader.move({end.x + (limit ? 0 : 5), end.y}).line({label.x - 3, label.y});
      svg.path(leader.text(), style + "-line line thin");
      svg.text({label.x, label.y + word_size * 0.36}, fitted(series.name, word_size, widest_label),
               {.size = word_size, .style = style});
    });
  }

  const Chart& chart_;
  std::vector<std::string> names_;
  Range range_;
  LogScale x_;
  double width_;  ///< Width of a plot.
  double tick_width_ = 0;
  double label_width_ = 0;
  std::vector<PlacedPanel> panels_;
  std::vector<std::string> subtitle_;
  double paper_width_ = 0;
  double paper_height_ = 0;
};

}  // namespace

std::string to_svg(const Chart& chart) {
  const Chart clean = prepared(chart);
  return Drawing(clean).draw();
}

}  // namespace tutti::render
