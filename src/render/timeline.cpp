#include "render/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <tutti/error.hpp>

#include "render/heading.hpp"
#include "render/label_stack.hpp"
#include "render/legend.hpp"
#include "render/scale.hpp"
#include "render/style.hpp"
#include "render/svg.hpp"

namespace tutti::render {

void require_drawable(std::size_t ranks) {
  if (ranks <= most_drawn_rows) return;
  throw Error(ErrorCode::unsupported, std::to_string(ranks) +
                                          " ranks are too many to draw; use at most " +
                                          std::to_string(most_drawn_rows));
}

namespace {

constexpr double margin = 20;
constexpr double plot_width = 1000;
constexpr double bar_height = 13;
constexpr double lane_height = 15;
constexpr double row_gap = 5;
constexpr double name_size = 11;
constexpr double word_size = 9;
constexpr double strip_height = 12;
constexpr std::size_t most_strips = 12;

void check_size(const Simulation& simulation) {
  const std::size_t ranks = simulation.finished.size();
  require_drawable(ranks);
  if (simulation.activities.size() > most_drawn_activities) {
    throw Error(ErrorCode::unsupported,
                std::to_string(ranks) + " ranks with " +
                    std::to_string(simulation.activities.size()) +
                    " messages and sums are too many to draw; use at most " +
                    std::to_string(most_drawn_rows) + " ranks and " +
                    std::to_string(most_drawn_activities) + " messages and sums");
  }
}

/// The row of a rank: its top, and the lane of each bar, so that overlapping bars are drawn below
/// each other.
struct Row {
  double top = 0;
  std::size_t lanes = 1;
};

class Chart {
 public:
  Chart(const Simulation& simulation, const Network& network)
      : simulation_(simulation), network_(network), lanes_(simulation.activities.size()) {
    place_rows();
    choose_links();
    double widest = text_width("rank 00", name_size);
    for (const std::size_t link : links_) {
      widest = std::max(widest, text_width(link_name(link), name_size));
    }
    left_ = std::ceil(widest) + 10;
  }

  [[nodiscard]] double width() const { return left_ + plot_width + 30; }
  [[nodiscard]] double height() const {
    const double strips =
        links_.empty() ? 0 : 28 + static_cast<double>(links_.size()) * strip_height;
    return rows_height_ + 26 + strips;
  }

  void draw(Svg& svg, Point corner) const {
    draw_axis(svg, corner);
    for (std::size_t i = 0; i < simulation_.activities.size(); ++i) draw_bar(svg, i, corner);
    draw_critical_path(svg, corner);
    draw_strips(svg, {corner.x, corner.y + rows_height_ + 26});
  }

 private:
  void place_rows() {
    std::vector<std::vector<std::size_t>> of_rank(simulation_.finished.size());
    for (std::size_t i = 0; i < simulation_.activities.size(); ++i) {
      of_rank[simulation_.activities[i].rank].push_back(i);
    }
    for (const std::vector<std::size_t>& activities : of_rank) {
      std::vector<Interval> intervals;
      intervals.reserve(activities.size());
      for (const std::size_t i : activities) {
        intervals.push_back({simulation_.activities[i].begin, simulation_.activities[i].end});
      }
      // Consecutive activities may share a lane; the tolerance is for rounding errors.
      const std::vector<std::size_t> lanes = rows_for(intervals, -1e-9 * simulation_.seconds);
      Row row{.top = rows_height_};
      for (std::size_t k = 0; k < activities.size(); ++k) {
        lanes_[activities[k]] = lanes[k];
        row.lanes = std::max(row.lanes, lanes[k] + 1);
      }
      rows_height_ += static_cast<double>(row.lanes) * lane_height + row_gap;
      rows_.push_back(row);
    }
  }

  /// Chooses the busiest links, busiest first.
  void choose_links() {
    if (simulation_.utilisation.intervals() == 0) return;
    std::vector<std::size_t> order(simulation_.links.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto load = [&](std::size_t link) {
      return simulation_.links[link].bytes / network_.links[link].bytes_per_second;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return load(a) > load(b); });
    for (const std::size_t link : order) {
      if (links_.size() < most_strips && simulation_.links[link].bytes > 0) links_.push_back(link);
    }
  }

  [[nodiscard]] std::string link_name(std::size_t link) const {
    return fitted(network_.describe(LinkId{static_cast<std::uint32_t>(link)}), name_size, 160);
  }

  [[nodiscard]] double x(double seconds, Point corner) const {
    const double whole = simulation_.seconds > 0 ? simulation_.seconds : 1;
    return corner.x + left_ + seconds / whole * plot_width;
  }

  [[nodiscard]] double y(std::size_t activity, Point corner) const {
    return corner.y + rows_[simulation_.activities[activity].rank].top +
           static_cast<double>(lanes_[activity]) * lane_height;
  }

  void draw_axis(Svg& svg, Point corner) const {
    const double bottom = corner.y + rows_height_;
    constexpr std::size_t most_ticks = 11;
    for (const double tick : linear_ticks(simulation_.seconds, most_ticks)) {
      const double at = x(tick, corner);
      svg.line({at, corner.y}, {at, bottom + 4}, "faint-line thin");
      svg.text({at, bottom + 17}, tick == 0 ? "0" : in_words(Measure::seconds, tick),
               {.size = name_size, .style = "soft", .anchor = Anchor::middle});
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double middle =
          corner.y + rows_[r].top + static_cast<double>(rows_[r].lanes) * lane_height / 2;
      svg.text({corner.x + left_ - 8, middle + name_size * 0.36 - 1}, "rank " + std::to_string(r),
               {.size = name_size, .style = "soft", .anchor = Anchor::end});
    }
  }

  [[nodiscard]] static std::string story(const Activity& activity) {
    const std::string from = std::to_string(activity.rank);
    std::string text = "round " + std::to_string(activity.round + 1) + ": ";
    text += activity.kind == Activity::Kind::sum
                ? "rank " + from + " adds "
                : from + " → " + std::to_string(activity.peer) + ", ";
    text += in_words(Measure::bytes, static_cast<double>(activity.bytes)) + ", from " +
            in_words(Measure::seconds, activity.begin) + " to " +
            in_words(Measure::seconds, activity.end);
    const double lost = activity.end - activity.begin - activity.alone;
    if (lost > activity.alone * 1e-6) {
      text += ", of which " + in_words(Measure::seconds, lost) + " were lost to others";
    }
    return text;
  }

  void draw_bar(Svg& svg, std::size_t index, Point corner) const {
    const Activity& activity = simulation_.activities[index];
    const bool sum = activity.kind == Activity::Kind::sum;
    const std::string colour = sum ? "series-2" : "series-0";
    const double begin = x(activity.begin, corner);
    const double end = x(activity.end, corner);
    const double alone = std::min(end, x(activity.begin + activity.alone, corner));
    const double top = y(index, corner);
    // A gap between consecutive bars.
    const double rim = std::min(0.6, (end - begin) * 0.1);
    svg.begin("g", {{"class", "bar"}});
    svg.tooltip(story(activity));
    if (end - alone > 0.5) svg.rect({alone, top}, end - alone - rim, bar_height, colour + " pale");
    svg.rect({begin, top}, std::max(0.4, alone - begin - rim), bar_height, colour);
    const std::string words = sum ? "+" : "→ " + std::to_string(activity.peer);
    if (text_width(words, word_size) + 4 < alone - begin) {
      svg.text({(begin + alone) / 2, top + bar_height / 2 + word_size * 0.36}, words,
               {.size = word_size, .style = "paper", .anchor = Anchor::middle});
    }
    svg.end();
  }

  /// The bar of an activity of the critical path; none if records were not kept.
  [[nodiscard]] std::size_t bar_of(const Activity& wanted) const {
    const auto found =
        std::find(simulation_.activities.begin(), simulation_.activities.end(), wanted);
    return static_cast<std::size_t>(found - simulation_.activities.begin());
  }

  void draw_critical_path(Svg& svg, Point corner) const {
    PathData boxes;
    PathData joints;
    bool first = true;
    Point last;
    for (const Activity& each : simulation_.critical_path) {
      const std::size_t bar = bar_of(each);
      if (bar == simulation_.activities.size()) continue;
      const double begin = x(each.begin, corner);
      const double end = x(each.end, corner);
      const double top = y(bar, corner);
      boxes.box({begin, top}, std::max(0.5, end - begin), bar_height);
      const double middle = top + bar_height / 2;
      if (!first && std::abs(last.y - middle) > 1) joints.move(last).line({begin, middle});
      last = {end, middle};
      first = false;
    }
    if (!joints.empty()) svg.path(joints.text(), "accent-line outline");
    if (!boxes.empty()) svg.path(boxes.text(), "accent-line outline thick");
  }

  /// Draws the utilisation of each link, interval by interval.
  void draw_strips(Svg& svg, Point corner) const {
    if (links_.empty()) return;
    const UtilisationSeries& series = simulation_.utilisation;
    svg.text({corner.x + left_, corner.y + 16}, "how busy the busiest links are",
             {.size = name_size, .style = "ink bold"});
    const double step = plot_width * series.seconds / simulation_.seconds;
    for (std::size_t row = 0; row < links_.size(); ++row) {
      const std::size_t link = links_[row];
      const double top = corner.y + 24 + static_cast<double>(row) * strip_height;
      svg.text({corner.x + left_ - 8, top + strip_height * 0.75}, link_name(link),
               {.size = name_size - 1, .style = "soft", .anchor = Anchor::end});
      std::map<std::size_t, PathData> by_heat;
      for (std::size_t i = 0; i < series.intervals(); ++i) {
        const double most = network_.links[link].bytes_per_second * series.seconds;
        const double share = series.carried(i, LinkId{static_cast<std::uint32_t>(link)}) / most;
        const double heat = std::clamp(std::ceil(share * 6 - 1e-6), 0.0, 6.0);
        const double at = corner.x + left_ + static_cast<double>(i) * step;
        const double wide = std::min(step, corner.x + left_ + plot_width - at);
        if (wide > 0) {
          by_heat[static_cast<std::size_t>(heat)].box({at, top}, wide, strip_height - 2);
        }
      }
      for (const auto& [heat, data] : by_heat) {
        svg.path(data.text(), "heat-" + std::to_string(heat));
      }
    }
  }

  const Simulation& simulation_;
  const Network& network_;
  std::vector<std::size_t> lanes_;  ///< Lane of each activity, in the row of its rank.
  std::vector<Row> rows_;
  std::vector<std::size_t> links_;  ///< The links drawn.
  double rows_height_ = 0;
  double left_ = 0;
};

Legend legend_of(const Simulation& simulation, double width) {
  Legend legend(width);
  const auto swatch = [](const std::string& style) {
    return [style](Svg& svg, Point at) {
      svg.rect({at.x, at.y - bar_height / 2}, 22, bar_height, style);
    };
  };
  legend.add(22, "message, in the row of its sender", swatch("series-0"));
  legend.add(22, "lost to others on its links", swatch("series-0 pale"));
  const bool sums =
      std::any_of(simulation.activities.begin(), simulation.activities.end(),
                  [](const Activity& each) { return each.kind == Activity::Kind::sum; });
  if (sums) legend.add(22, "sum", swatch("series-2"));
  legend.add(22, "critical path", swatch("accent-line outline thick"));
  if (simulation.utilisation.intervals() > 0) {
    legend.add(15.0 * heat_steps, "links: idle … full", [](Svg& svg, Point at) {
      for (std::size_t i = 0; i < heat_steps; ++i) {
        svg.rect({at.x + 15 * static_cast<double>(i), at.y - 5}, 15, 10,
                 "heat-" + std::to_string(i));
      }
    });
  }
  return legend;
}

}  // namespace

std::string draw_timeline(const Simulation& simulation, const Network& network,
                          const Caption& caption) {
  check_size(simulation);
  const Chart chart(simulation, network);
  const double width = chart.width() + 2 * margin;
  const Heading heading(caption, width - 2 * margin);
  const Legend legend = legend_of(simulation, width - 2 * margin);
  const double top = margin + heading.height() + legend.height() + 12;
  Svg svg(width, top + chart.height() + margin, caption.title, heading.description());
  heading.draw(svg, {margin, margin});
  legend.draw(svg, {margin, margin + heading.height()});
  chart.draw(svg, {margin, top});
  return svg.document();
}

}  // namespace tutti::render
