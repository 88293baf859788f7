#include "render/hop_drawing.hpp"

#include <algorithm>
#include <cmath>

#include <tutti/error.hpp>

#include "core/quantity.hpp"
#include "render/heading.hpp"
#include "render/hop_graph.hpp"
#include "render/hop_layout.hpp"
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
constexpr double widest_steps = 6;

struct Panel {
  std::string title;
  HopGraph graph;
  HopLayout layout;
  Point corner{};

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
    for (const Panel& panel : panels_) {
      for (const auto& [pair, hop] : panel.graph.hops) most_ = std::max(most_, hop.chunks);
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
    const std::uint32_t root = schedule_.contract.root.index() / fold_;
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
    }
    return lines;
  }

  [[nodiscard]] bool has(bool adds, bool copies) const {
    return std::any_of(panels_.begin(), panels_.end(), [&](const Panel& panel) {
      return std::any_of(panel.graph.hops.begin(), panel.graph.hops.end(), [&](const auto& each) {
        return each.second.adds == adds && each.second.copies == copies;
      });
    });
  }

  [[nodiscard]] Legend legend(double width) const {
    Legend found(width);
    const auto line = [&](const std::string& style, const std::string& words) {
      found.add(26, words, [style](Svg& svg, Point at) {
        svg.line(at, {at.x + 26, at.y}, style + "-line load-3");
      });
    };
    const bool sums = is_reduction(schedule_.contract.collective);
    if (has(true, false)) line("adds", "is added at the receiver");
    if (has(false, true)) line("copies", sums ? "replaces what the receiver has" : "is stored");
    if (has(true, true)) line("series-3", "is added in some rounds, stored in others");
    const double data = static_cast<double>(schedule_.contract.chunks);
    const std::string share = number(100 * static_cast<double>(most_) / data);
    if (most_ > 0 && schedule_.contract.collective != Collective::barrier) {
      found.add(26, "the widest line carries " + share + " % of the data; narrower ones less",
                [many = is_dense()](Svg& svg, Point at) {
                  svg.line(at, {at.x + 26, at.y}, many ? "soft-line load-3" : "soft-line load-6");
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

  [[nodiscard]] bool is_dense() const { return panels_.front().graph.hops.size() > 48; }

  [[nodiscard]] std::string load(const Hop& hop) const {
    const double share = static_cast<double>(hop.chunks) / static_cast<double>(most_);
    // Wide lines would hide each other between many nodes.
    const double widest = is_dense() ? 3 : widest_steps;
    const double step = std::clamp(std::ceil(share * widest), 1.0, widest);
    return "load-" + std::to_string(static_cast<int>(step));
  }

  [[nodiscard]] std::string words(std::pair<std::uint32_t, std::uint32_t> pair,
                                  const Hop& hop) const {
    std::string text = std::to_string(pair.first) + " → " + std::to_string(pair.second) + ": " +
                       in_plural(hop.messages, "message") + ", " + in_plural(hop.chunks, "chunk");
    text += hop.first == hop.last
                ? ", round " + std::to_string(hop.first)
                : ", rounds " + std::to_string(hop.first) + "–" + std::to_string(hop.last);
    return text;
  }

  /// A line with a head. Lines there and back, and chords, bow to the left of their direction.
  void draw_hop(Svg& svg, const Panel& panel, std::pair<std::uint32_t, std::uint32_t> pair,
                const Hop& hop) const {
    const Point from = place(panel, pair.first);
    const Point to = place(panel, pair.second);
    const double length = std::max(1.0, std::hypot(to.x - from.x, to.y - from.y));
    const bool back = panel.graph.hops.contains({pair.second, pair.first});
    // On a grid, lines around the edge bow away from the nodes in between.
    const bool wraps = panel.layout.kind == HopLayout::Kind::grid && length > 90;
    const double bow = wraps ? 20 : back ? std::min(9.0, 3 + 0.06 * length) : 0;
    const Point left{(to.y - from.y) / length * bow * 2, -(to.x - from.x) / length * bow * 2};
    Point over{(from.x + to.x) / 2 + left.x, (from.y + to.y) / 2 + left.y};
    if (panel.layout.kind == HopLayout::Kind::circle) {
      // Inwards, away from the nodes in between.
      const Point centre = moved(panel, {panel.layout.width / 2, panel.layout.height / 2});
      const double share = length / std::max(1.0, panel.layout.width);
      over = between(over, centre, 0.35 * (1 - share));
    }
    const Point start =
        between(from, over, panel.layout.radius / std::hypot(over.x - from.x, over.y - from.y));
    const double reach = std::hypot(over.x - to.x, over.y - to.y);
    const Point end = between(to, over, (panel.layout.radius + 1) / reach);
    const Point neck = between(to, over, (panel.layout.radius + 7) / reach);
    const bool pale = !zoomed(pair.first) && !zoomed(pair.second);
    const std::string colour = pale ? "faint" : style_of(hop);
    svg.begin("g", {{"class", "message"}});
    svg.tooltip(words(pair, hop));
    svg.path(PathData().move(start).bend(over, neck).text(),
             colour + "-line " + (pale ? "load-0" : load(hop)));
    const Point along{(end.x - neck.x) / 6, (end.y - neck.y) / 6};
    const Point side{-along.y * 4, along.x * 4};
    svg.path(PathData()
                 .move(end)
                 .line({neck.x + side.x, neck.y + side.y})
                 .line({neck.x - side.x, neck.y - side.y})
                 .close()
                 .text(),
             colour);
    svg.end();
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
      for (const auto& [pair, hop] : panel.graph.hops) {
        if ((!zoomed(pair.first) && !zoomed(pair.second)) == pale) draw_hop(svg, panel, pair, hop);
      }
    }
    const bool rooted = has_root(schedule_.contract.collective);
    for (std::uint32_t i = 0; i < panel.graph.nodes; ++i) {
      const Point at = place(panel, i);
      const bool root = rooted && i == schedule_.contract.root.index() / fold_;
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
  double height_ = 0;
};

}  // namespace

std::string draw_hops(const Schedule& schedule, const Caption& caption, const HopPicture& picture) {
  return HopDrawing(schedule, picture).document(caption);
}

}  // namespace tutti::render
