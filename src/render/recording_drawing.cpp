#include "render/recording_drawing.hpp"

#include <algorithm>
#include <cmath>

#include <tutti/error.hpp>

#include "render/heading.hpp"
#include "render/label_stack.hpp"
#include "render/legend.hpp"
#include "render/scale.hpp"
#include "render/style.hpp"
#include "render/svg.hpp"
#include "render/timeline.hpp"

namespace tutti::render {
namespace {

constexpr double margin = 20;
constexpr double plot_width = 900;
constexpr double bar_height = 20;
constexpr double lane_height = 22;
constexpr double row_gap = 8;
constexpr double name_size = 12;
constexpr double word_size = 10.5;
constexpr double widest_name = 260;

bool is_idle(const std::string& kind) { return kind == "idle" || kind == "bubble"; }

/// The kinds in the order of their first spans, and their colours.
class Kinds {
 public:
  explicit Kinds(const Recording& recording) {
    for (const Recording::Span& span : recording.spans) {
      if (std::find(names_.begin(), names_.end(), span.kind) == names_.end()) {
        names_.push_back(span.kind);
      }
    }
    // Idle time last: the others have colours in order.
    std::stable_partition(names_.begin(), names_.end(),
                          [](const std::string& kind) { return !is_idle(kind); });
  }

  [[nodiscard]] std::string style(const std::string& kind) const {
    if (is_idle(kind)) return "faint";
    const auto found = std::find(names_.begin(), names_.end(), kind) - names_.begin();
    return "series-" + std::to_string(static_cast<std::size_t>(found) % series_colours);
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

class Picture {
 public:
  Picture(const Recording& recording, const Kinds& kinds)
      : recording_(recording), kinds_(kinds), lanes_(recording.spans.size()) {
    for (const Recording::Span& span : recording.spans) seconds_ = std::max(seconds_, span.end);
    for (const std::string& name : recording.rows) {
      left_ = std::max(left_, std::ceil(text_width(name, name_size)));
    }
    left_ = std::min(left_, widest_name) + 10;
    for (std::size_t row = 0; row < recording.rows.size(); ++row) place(row);
  }

  [[nodiscard]] double width() const { return left_ + plot_width + 30; }
  [[nodiscard]] double height() const { return height_ + 26; }

  void draw(Svg& svg, Point corner) const {
    draw_axis(svg, corner);
    for (std::size_t i = 0; i < recording_.spans.size(); ++i) draw_bar(svg, i, corner);
    for (const Recording::Arrow& arrow : recording_.arrows) draw_arrow(svg, arrow, corner);
  }

 private:
  void place(std::size_t row) {
    std::vector<std::size_t> spans;
    std::vector<Interval> intervals;
    for (std::size_t i = 0; i < recording_.spans.size(); ++i) {
      if (recording_.spans[i].row != row) continue;
      spans.push_back(i);
      intervals.push_back({recording_.spans[i].begin, recording_.spans[i].end});
    }
    // Consecutive spans may share a lane; the tolerance is for rounding errors.
    const std::vector<std::size_t> lanes = rows_for(intervals, -1e-6 * seconds_);
    std::size_t most = 1;
    for (std::size_t k = 0; k < spans.size(); ++k) {
      lanes_[spans[k]] = lanes[k];
      most = std::max(most, lanes[k] + 1);
    }
    tops_.push_back(height_);
    row_lanes_.push_back(most);
    height_ += static_cast<double>(most) * lane_height + row_gap;
  }

  [[nodiscard]] double x(double seconds, Point corner) const {
    return corner.x + left_ + seconds / (seconds_ > 0 ? seconds_ : 1) * plot_width;
  }

  void draw_axis(Svg& svg, Point corner) const {
    constexpr std::size_t most_ticks = 11;
    const double bottom = corner.y + height_;
    for (const double tick : linear_ticks(seconds_, most_ticks)) {
      const double at = x(tick, corner);
      svg.line({at, corner.y}, {at, bottom}, "faint-line thin");
      svg.text({at, bottom + 15}, tick == 0 ? "0" : in_words(Measure::seconds, tick),
               {.size = name_size - 1, .style = "soft", .anchor = Anchor::middle});
    }
    for (std::size_t row = 0; row < tops_.size(); ++row) {
      const double middle =
          corner.y + tops_[row] + static_cast<double>(row_lanes_[row]) * lane_height / 2;
      svg.text({corner.x + left_ - 8, middle + name_size * 0.36 - 1},
               fitted(recording_.rows[row], name_size, widest_name),
               {.size = name_size, .style = "ink", .anchor = Anchor::end});
    }
  }

  void draw_bar(Svg& svg, std::size_t index, Point corner) const {
    const Recording::Span& span = recording_.spans[index];
    const double begin = x(span.begin, corner);
    const double end = x(span.end, corner);
    const double top =
        corner.y + tops_[span.row] + static_cast<double>(lanes_[index]) * lane_height;
    // A gap between consecutive bars.
    const double rim = std::min(1.0, (end - begin) * 0.1);
    svg.begin("g", {{"class", "bar"}});
    svg.tooltip(span.kind + " " + span.name + ", from " + in_words(Measure::seconds, span.begin) +
                " to " + in_words(Measure::seconds, span.end));
    svg.rect({begin, top}, std::max(0.4, end - begin - rim), bar_height, kinds_.style(span.kind));
    if (!span.name.empty() && text_width(span.name, word_size) + 3 < end - begin) {
      svg.text({(begin + end - rim) / 2, top + bar_height / 2 + word_size * 0.36}, span.name,
               {.size = word_size,
                .style = is_idle(span.kind) ? "soft" : "paper",
                .anchor = Anchor::middle});
    }
    svg.end();
  }

  /// From the bar of the sender to that of the receiver, which may be above it.
  void draw_arrow(Svg& svg, const Recording::Arrow& arrow, Point corner) const {
    const bool falls = arrow.from_row < arrow.to_row;
    const double inset = arrow.from_row == arrow.to_row ? bar_height / 2 : 5;
    const auto edge = [&](std::size_t row, bool bottom) {
      return corner.y + tops_[row] + (bottom ? bar_height - inset : inset);
    };
    const Point from{x(arrow.from, corner), edge(arrow.from_row, falls)};
    const Point to{x(arrow.to, corner), edge(arrow.to_row, !falls)};
    const double length = std::max(1e-6, std::hypot(to.x - from.x, to.y - from.y));
    const Point along{(to.x - from.x) / length, (to.y - from.y) / length};
    constexpr double head = 7;
    const Point neck{to.x - along.x * head, to.y - along.y * head};
    const Point side{-along.y * head / 2, along.x * head / 2};
    svg.path(PathData().move(from).line(neck).text(), "ink-line outline");
    svg.path(PathData()
                 .move(to)
                 .line({neck.x + side.x, neck.y + side.y})
                 .line({neck.x - side.x, neck.y - side.y})
                 .close()
                 .text(),
             "ink");
  }

  const Recording& recording_;
  const Kinds& kinds_;
  double seconds_ = 0;
  double left_ = 0;
  double height_ = 0;
  std::vector<std::size_t> lanes_;      // By span.
  std::vector<double> tops_;            // By row.
  std::vector<std::size_t> row_lanes_;  // By row.
};

Legend legend_of(const Recording& recording, const Kinds& kinds, double width) {
  Legend legend(width);
  for (const std::string& kind : kinds.names()) {
    if (kind.empty()) continue;
    legend.add(22, fitted(kind, name_size, widest_name),
               [style = kinds.style(kind)](Svg& svg, Point at) {
                 svg.rect({at.x, at.y - 6.5}, 22, 13, style);
               });
  }
  if (!recording.arrows.empty()) {
    legend.add(22, "message", [](Svg& svg, Point at) {
      svg.path(PathData().move(at).line({at.x + 16, at.y}).text(), "ink-line outline");
      svg.path(PathData()
                   .move({at.x + 22, at.y})
                   .line({at.x + 15, at.y - 3.5})
                   .line({at.x + 15, at.y + 3.5})
                   .close()
                   .text(),
               "ink");
    });
  }
  return legend;
}

}  // namespace

std::string draw_recording(const Recording& recording) {
  if (recording.rows.size() > most_drawn_rows || recording.spans.size() > most_drawn_activities) {
    throw Error(ErrorCode::unsupported, std::to_string(recording.rows.size()) + " rows with " +
                                            std::to_string(recording.spans.size()) +
                                            " spans are too many to draw; use at most " +
                                            std::to_string(most_drawn_rows) + " rows and " +
                                            std::to_string(most_drawn_activities) +
                                            " spans, or open the trace in ui.perfetto.dev");
  }
  const Kinds kinds(recording);
  const Picture picture(recording, kinds);
  const double width = picture.width() + 2 * margin;
  const Heading heading(recording.caption, width - 2 * margin);
  const Legend legend = legend_of(recording, kinds, width - 2 * margin);
  const double top = margin + heading.height() + legend.height() + 12;
  Svg svg(width, top + picture.height() + margin, recording.caption.title, heading.description());
  heading.draw(svg, {margin, margin});
  legend.draw(svg, {margin, margin + heading.height()});
  picture.draw(svg, {margin, top});
  return svg.document();
}

}  // namespace tutti::render
