#include "render/hop_drawing.hpp"

#include <algorithm>
#include <cmath>

#include <tutti/error.hpp>

#include "core/quantity.hpp"
#include "render/heading.hpp"
#include "render/hop_graph.hpp"
#include "render/hop_layout.hpp"
#include "render/hop_lines.hpp"
#include "render/legend.hpp"

namespace tutti::render {
namespace {

constexpr double margin = 24;
constexpr double around = 26;  // For bends and wide lines.
constexpr double head_size = 12;
constexpr double narrowest_paper = 680;
constexpr double widest_paper = 1640;
constexpr std::uint32_t most_nodes = 64;
constexpr std::size_t most_ways = 4;
constexpr std::size_t many_lines = 48;
constexpr int hair = 0;  // Between so many nodes that any other line hides the rest.

struct Panel {
  std::string title;
  HopGraph graph;
  HopLayout layout;
  Point corner{};
  std::vector<HopLine> lines{};

  [[nodiscard]] double width() const {
    return std::max(layout.width + 2 * around, text_width(title, head_size, true));
  }
  [[nodiscard]] double height() const { return layout.height + 2 * around + head_size + 8; }
};

std::string style_of(const Hop& hop) {
  if (hop.adds && hop.copies) return "series-3";
  return hop.adds ? "adds" : "copies";
}

Point between(Point a, Point b, double share) {
  return {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
}

class HopDrawing {
 public:
  HopDrawing(const Schedule& schedule, const HopPicture& picture)
      : schedule_(schedule), picture_(picture) {
    check();
    fold_ =
        picture.fold != 0 ? picture.fold : (schedule.contract.ranks + most_nodes - 1) / most_nodes;
    add_panels();
    for (Panel& panel : panels_) {
      panel.lines = hop_lines(panel.graph);
      for (const HopLine& line : panel.lines) most_ = std::max(most_, line.hop.chunks);
      widest_ = std::min(widest_, widest_line(panel));
    }
  }

  [[nodiscard]] std::string document(const Caption& caption) {
    const double width = arrange();
    Caption whole = caption;
    for (const std::string& each : notes()) whole.lines.push_back(each);
    const Heading heading(whole, width - 2 * margin);
    const Legend signs = legend(width - 2 * margin);
    const double top = margin + heading.height() + signs.height() + 14;
    Svg svg(width, top + height_ + margin, caption.title, heading.description());
    heading.draw(svg, {margin, margin});
    signs.draw(svg, {margin, margin + heading.height()});
    for (Panel& panel : panels_) {
      panel.corner.y += top;
      draw(svg, panel);
    }
    return svg.document();
  }

 private:
  void check() const {
    for (const std::uint32_t round : picture_.rounds) {
      if (round == 0 || round > schedule_.rounds()) {
        throw Error(ErrorCode::invalid_argument, "there is no round " + std::to_string(round) +
                                                     ": '" + schedule_.name + "' has " +
                                                     std::to_string(schedule_.rounds()));
      }
    }
    for (const std::uint32_t rank : picture_.zoom) {
      if (rank >= schedule_.contract.ranks) {
        throw Error(ErrorCode::invalid_argument, "there is no rank " + std::to_string(rank));
      }
    }
  }

  void add_panels() {
    const std::uint32_t root = schedule_.contract.root / fold_;
    const HopGraph all = hop_graph(schedule_, fold_);
    const HopLayout layout = hop_layout(all, root, fold_ == 1 ? picture_.shape : Shape{});
    for (const std::uint32_t round : picture_.rounds) {
      panels_.push_back({.title = "round " + std::to_string(round),
                         .graph = hop_graph(schedule_, fold_, {round, round}),
                         .layout = layout});
    }
    if (!panels_.empty()) return;
    // Two trees at once are drawn as two trees.
    const bool plain = layout.kind != HopLayout::Kind::circle || fold_ != 1;
    std::vector<HopGraph> ways =
        plain ? std::vector<HopGraph>{} : hop_graphs_by_way(schedule_, most_ways);
    const bool trees = ways.size() > 1 && std::all_of(ways.begin(), ways.end(), is_tree);
    for (std::size_t i = 0; trees && i < ways.size(); ++i) {
      const std::uint32_t top = root_of(ways[i]);
      panels_.push_back({.title = "tree " + std::to_string(i + 1) + ", a part of the data",
                         .graph = ways[i],
                         .layout = hop_layout(ways[i], top, {})});
    }
    if (!trees) panels_.push_back({.title = "all rounds together", .graph = all, .layout = layout});
  }

  /// The node that sends first of those that end up with the whole: its copies start earliest.
  [[nodiscard]] static std::uint32_t root_of(const HopGraph& tree) {
    std::uint32_t root = 0;
    std::uint32_t earliest = ~0U;
    for (const auto& [pair, hop] : tree.hops) {
      const bool downwards = hop.copies && !hop.adds;
      if (!downwards || hop.first >= earliest) continue;
      earliest = hop.first;
      root = pair.first;
    }
    return root;
  }

  /// Puts panels into rows, and returns the width of the paper.
  double arrange() {
    double x = margin;
    double y = 0;
    double row = 0;
    double width = narrowest_paper;
    for (Panel& panel : panels_) {
      if (x > margin && x + panel.width() > widest_paper - margin) {
        x = margin;
        y += row;
        row = 0;
      }
      panel.corner = {x, y};
      x += panel.width() + margin;
      row = std::max(row, panel.height());
      width = std::max(width, x);
    }
    height_ = y + row;
    return width;
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> lines;
    if (fold_ > 1) {
      const std::string inside =
          panels_.size() == 1
              ? ", with " + with_commas(panels_.front().graph.inside) + " messages among themselves"
              : "";
      lines.push_back("Every node is " + std::to_string(fold_) + " ranks" + inside +
                      "; --fold sets how many.");
    }
    if (!picture_.zoom.empty()) {
      lines.push_back("Only the messages of " + in_plural(picture_.zoom.size(), "rank") +
                      " are drawn in full.");
    }
    if (picture_.rounds.empty() && schedule_.rounds() > 1) {
      lines.emplace_back(
          "--rounds 1-4 draws single rounds, --zoom 0-3 the messages of some ranks.");
    } else if (widest_ == hair) {
      lines.emplace_back("--zoom 0 draws the messages of one rank.");
    }
    return lines;
  }

  template <class Test>
  [[nodiscard]] bool any_line(Test test) const {
    return std::any_of(panels_.begin(), panels_.end(), [&](const Panel& panel) {
      return std::any_of(panel.lines.begin(), panel.lines.end(), test);
    });
  }

  [[nodiscard]] bool has(bool adds, bool copies) const {
    return any_line(
        [&](const HopLine& line) { return line.hop.adds == adds && line.hop.copies == copies; });
  }

  /// How much a line carries, if there is data.
  [[nodiscard]] std::string carries() const {
    const double share =
        static_cast<double>(most_) / static_cast<double>(schedule_.contract.chunks);
    const std::string words = number(std::round(1000 * share) / 10) + " % of the data";
    const bool some_both_ways = any_line([](const HopLine& line) { return line.both_ways; });
    const bool all_both_ways = !any_line([](const HopLine& line) { return !line.both_ways; });
    const std::string way = all_both_ways ? " each way" : some_both_ways ? " one way" : "";
    if (any_line([&](const HopLine& line) { return line.hop.chunks != most_; })) {
      // Lines that are all alike do not show how much they carry.
      return widest_ > 1 ? "the widest line carries " + words + way + "; narrower ones less"
                         : "a line carries at most " + words + way;
    }
    return "each line carries " + words + way;
  }

  [[nodiscard]] Legend legend(double width) const {
    Legend found(width);
    const auto stroke = [&](const std::string& style, const std::string& words) {
      found.add(26, words, [style](Svg& svg, Point at) {
        svg.line(at, {at.x + 26, at.y}, style + "-line load-3");
      });
    };
    const bool sums = is_reduction(schedule_.contract.collective);
    if (has(true, false)) stroke("adds", "is added at the receiver");
    if (has(false, true)) stroke("copies", sums ? "replaces what the receiver has" : "is stored");
    if (has(true, true)) stroke("series-3", "is added in some rounds, stored in others");
    if (most_ > 0 && schedule_.contract.collective != Collective::barrier) {
      found.add(26, carries(), [style = load_style(widest_)](Svg& svg, Point at) {
        svg.line(at, {at.x + 26, at.y}, "soft-line " + style);
      });
    }
    if (widest_ != hair && any_line([](const HopLine& line) { return line.both_ways; })) {
      found.add(26, "as much there and back", [](Svg& svg, Point at) {
        svg.line({at.x + 6, at.y}, {at.x + 20, at.y}, "soft-line load-3");
        draw_head(svg, {at.x + 6, at.y}, {at.x, at.y}, "soft");
        draw_head(svg, {at.x + 20, at.y}, {at.x + 26, at.y}, "soft");
      });
    }
    found.add(24, fold_ > 1 ? "ranks" : "rank", [](Svg& svg, Point at) {
      svg.circle({at.x + 12, at.y}, 9, "empty ink-line thin");
    });
    if (has_root(schedule_.contract.collective)) {
      found.add(24, "root", [](Svg& svg, Point at) {
        svg.circle({at.x + 12, at.y}, 9, "empty done-line thick");
      });
    }
    return found;
  }

  [[nodiscard]] bool zoomed(std::uint32_t node) const {
    return picture_.zoom.empty() ||
           std::any_of(picture_.zoom.begin(), picture_.zoom.end(),
                       [&](std::uint32_t rank) { return rank / fold_ == node; });
  }

  /// The number of the widest line that still leaves paper between the lines.
  [[nodiscard]] int widest_line(const Panel& panel) const {
    double length = 0;
    std::size_t count = 0;
    for (const HopLine& line : panel.lines) {
      if (is_pale(line)) continue;
      ++count;
      const Point from = panel.layout.places[line.from];
      const Point to = panel.layout.places[line.to];
      length += std::hypot(to.x - from.x, to.y - from.y);
    }
    const double paper = std::max(1.0, panel.layout.width * panel.layout.height);
    constexpr double most_covered = 0.3;
    const HopLayout::Kind kind = panel.layout.kind;
    if (kind == HopLayout::Kind::circle || kind == HopLayout::Kind::grid) {
      if (length * 1.8 > most_covered * paper) return hair;
    }
    if (kind == HopLayout::Kind::circle) {
      if (length * 3.2 > most_covered * paper || count > many_lines) return 1;
    }
    return count > many_lines ? 3 : 6;
  }

  [[nodiscard]] static std::string load_style(int step) {
    return step == hair ? "hair" : "load-" + std::to_string(step);
  }

  [[nodiscard]] std::string load(const Hop& hop) const {
    if (widest_ == hair) return load_style(hair);
    const double share = static_cast<double>(hop.chunks) / static_cast<double>(most_);
    return load_style(std::clamp(static_cast<int>(std::ceil(share * widest_)), 1, widest_));
  }

  [[nodiscard]] static std::string words(const HopLine& line) {
    const Hop& hop = line.hop;
    std::string text = std::to_string(line.from) + (line.both_ways ? " ↔ " : " → ") +
                       std::to_string(line.to) + ": " + in_plural(hop.messages, "message") + ", " +
                       in_plural(hop.chunks, "chunk") + (line.both_ways ? " each way" : "");
    text += hop.first == hop.last
                ? ", round " + std::to_string(hop.first)
                : ", rounds " + std::to_string(hop.first) + "–" + std::to_string(hop.last);
    return text;
  }

  /// The triangle at the end of a line: from its neck, where the line ends, to its tip.
  static void draw_head(Svg& svg, Point neck, Point tip, const std::string& colour) {
    const Point side{-(tip.y - neck.y) * 2 / 3, (tip.x - neck.x) * 2 / 3};
    svg.path(PathData()
                 .move(tip)
                 .line({neck.x + side.x, neck.y + side.y})
                 .line({neck.x - side.x, neck.y - side.y})
                 .close()
                 .text(),
             colour);
  }

  /// The point over which a line bends. Two lines there and back bow to the left of their
  /// direction.
  [[nodiscard]] static Point bend(const Panel& panel, const HopLine& line) {
    const Point from = place(panel, line.from);
    const Point to = place(panel, line.to);
    const double length = std::max(1.0, std::hypot(to.x - from.x, to.y - from.y));
    const bool back = !line.both_ways && panel.graph.hops.contains({line.to, line.from});
    // On a grid, lines around the edge bow away from the nodes in between.
    const bool wraps = panel.layout.kind == HopLayout::Kind::grid && length > 90;
    const double bow = wraps ? 20 : back ? std::min(9.0, 3 + 0.06 * length) : 0;
    const Point left{(to.y - from.y) / length * bow * 2, -(to.x - from.x) / length * bow * 2};
    const Point over{(from.x + to.x) / 2 + left.x, (from.y + to.y) / 2 + left.y};
    if (panel.layout.kind != HopLayout::Kind::circle) return over;
    // Inwards, away from the nodes in between.
    const Point centre = moved(panel, {panel.layout.width / 2, panel.layout.height / 2});
    const double share = length / std::max(1.0, panel.layout.width);
    return between(over, centre, 0.35 * (1 - share));
  }

  /// A line with a head, or with two. Hairs that all lead both ways need none.
  void draw_line(Svg& svg, const Panel& panel, const HopLine& line) const {
    const Point from = place(panel, line.from);
    const Point to = place(panel, line.to);
    const Point over = bend(panel, line);
    const bool pale = is_pale(line);
    const bool thin = widest_ == hair || (pale && panel.lines.size() > many_lines);
    const double head = thin ? (line.both_ways ? 0 : 3) : 6;
    const auto near = [&](Point end, double gap) {
      return between(end, over,
                     (panel.layout.radius + gap) / std::hypot(over.x - end.x, over.y - end.y));
    };
    const Point start = near(from, line.both_ways ? 1 + head : 0);
    const Point neck = near(to, 1 + head);
    const std::string colour = pale ? "faint" : style_of(line.hop);
    svg.begin("g", {{"class", "message"}});
    svg.tooltip(words(line));
    svg.path(PathData().move(start).bend(over, neck).text(), colour + "-line " +
                                                                 (thin   ? "hair"
                                                                  : pale ? "load-0"
                                                                         : load(line.hop)));
    if (head > 0) draw_head(svg, neck, near(to, 1), colour);
    if (head > 0 && line.both_ways) draw_head(svg, start, near(from, 1), colour);
    svg.end();
  }

  [[nodiscard]] bool is_pale(const HopLine& line) const {
    return !zoomed(line.from) && !zoomed(line.to);
  }

  [[nodiscard]] static Point place(const Panel& panel, std::uint32_t node) {
    return moved(panel, panel.layout.places[node]);
  }

  [[nodiscard]] static Point moved(const Panel& panel, Point at) {
    return {panel.corner.x + around + at.x, panel.corner.y + head_size + 8 + around + at.y};
  }

  void draw(Svg& svg, const Panel& panel) const {
    svg.begin("g", {{"class", "frame"}});
    svg.text({panel.corner.x, panel.corner.y + head_size}, panel.title,
             {.size = head_size, .style = "ink bold"});
    // Pale lines first, so that they hide nothing.
    for (const bool pale : {true, false}) {
      for (const HopLine& line : panel.lines) {
        if (is_pale(line) == pale) draw_line(svg, panel, line);
      }
    }
    const bool rooted = has_root(schedule_.contract.collective);
    for (std::uint32_t i = 0; i < panel.graph.nodes; ++i) {
      const Point at = place(panel, i);
      const bool root = rooted && i == schedule_.contract.root / fold_;
      svg.circle(at, panel.layout.radius,
                 root        ? "empty done-line thick"
                 : zoomed(i) ? "empty ink-line thin"
                             : "empty faint-line thin");
      const double size = panel.layout.radius > 9 ? 9.5 : 6.5;
      svg.text({at.x, at.y + size * 0.36}, std::to_string(i * fold_),
               {.size = size, .style = zoomed(i) ? "ink" : "soft", .anchor = Anchor::middle});
    }
    svg.end();
  }

  const Schedule& schedule_;
  const HopPicture& picture_;
  std::uint32_t fold_ = 1;
  std::vector<Panel> panels_;
  std::uint64_t most_ = 0;
  int widest_ = 6;  ///< The number of the widest line, or `hair`.
  double height_ = 0;
};

}  // namespace

std::string draw_hops(const Schedule& schedule, const Caption& caption, const HopPicture& picture) {
  return HopDrawing(schedule, picture).document(caption);
}

}  // namespace tutti::render
