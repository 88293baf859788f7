#include "render/network_drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include <tutti/error.hpp>

#include "render/heading.hpp"
#include "render/legend.hpp"
#include "render/network_layout.hpp"
#include "render/scale.hpp"
#include "render/style.hpp"
#include "render/svg.hpp"

namespace tutti::render {
namespace {

constexpr double margin = 20;
constexpr double unit = 42;
constexpr double wide_unit = 64;  // With room for arcs.
constexpr double around = 30;     // Margin for bends and wide lines.
constexpr double rank_radius = 11;
constexpr double number_size = 9.5;
constexpr double narrowest_paper = 700;

/// The distance from the centre of a node at which its links begin.
double reach(NodeKind kind) {
  switch (kind) {
    case NodeKind::rank:
      return rank_radius;
    case NodeKind::host:
    case NodeKind::switch_:
      return 9;
    case NodeKind::nic:
      break;
  }
  return 5;
}

void draw_node(Svg& svg, const Node& node, Point at) {
  switch (node.kind) {
    case NodeKind::rank:
      svg.circle(at, rank_radius, "empty ink-line thin");
      return;
    case NodeKind::host:
      svg.rect({at.x - 12, at.y - 8}, 24, 16, "panel soft-line thin", 3);
      return;
    case NodeKind::switch_:
      svg.rect({at.x - 8, at.y - 8}, 16, 16, "soft", 3);
      return;
    case NodeKind::nic:
      svg.rect({at.x - 4, at.y - 4}, 8, 8, "panel soft-line thin");
      return;
  }
}

class Picture {
 public:
  Picture(const Network& network, const std::vector<LinkTraffic>& traffic,
          const std::vector<OverlayHop>& hops)
      : network_(network), traffic_(traffic), hops_(hops), layout_(lay_out(network)) {
    scale(around);
    make_room_for_arcs();
    measure_loads();
  }

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }

  void draw(Svg& svg, Point corner) const {
    std::vector<std::size_t> order(network_.links.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Busy links are drawn last, so that no other line hides them.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return heat(a) < heat(b); });
    for (const std::size_t link : order) draw_link(svg, link, corner);
    for (std::uint32_t n = 0; n < network_.nodes.size(); ++n) draw_node(svg, NodeId{n}, corner);
    for (const OverlayHop& hop : hops_) arc(hop, corner).draw(svg);
    for (const OverlayHop& hop : hops_) arc(hop, corner).label(svg, hop.links);
  }

  [[nodiscard]] Legend legend(double most_width) const {
    Legend legend(most_width);
    add_kinds(legend);
    if (traffic_.empty()) return legend;
    if (!hops_.empty()) {
      legend.add(26, "hop of the overlay", [](Svg& svg, Point at) {
        svg.line(at, {at.x + 26, at.y}, "series-0-line line");
      });
    }
    const auto add = [&](std::size_t step, const std::string& words) {
      legend.add(26, words, [step](Svg& svg, Point at) {
        const std::string number = std::to_string(step);
        svg.line(at, {at.x + 26, at.y}, "heat-" + number + "-line load-" + number);
      });
    };
    add(0, "idle");
    if (!hops_.empty()) {
      std::map<std::size_t, double> most;
      for (std::size_t l = 0; l < traffic_.size(); ++l) {
        most[heat(l)] = std::max(most[heat(l)], traffic_[l].bytes);
      }
      most.erase(0);
      for (const auto& [step, count] : most) {
        add(step, std::to_string(std::lround(count)) + (count > 1 ? " hops" : " hop"));
      }
      return legend;
    }
    for (std::size_t step = 1; step < heat_steps && busiest_ > 0; ++step) {
      const double share = static_cast<double>(step) / static_cast<double>(heat_steps - 1);
      add(step,
          (step == 1 ? "up to " : "") + in_words(uniform_ ? Measure::bytes : Measure::seconds,
                                                 share * busiest_ * (uniform_ ? bandwidth_ : 1)));
    }
    return legend;
  }

 private:
  void scale(double border) {
    Point low = layout_.nodes.front();
    Point high = low;
    for (const Point& each : layout_.nodes) {
      low = {std::min(low.x, each.x), std::min(low.y, each.y)};
      high = {std::max(high.x, each.x), std::max(high.y, each.y)};
    }
    for (Point& each : layout_.nodes) {
      each = {(each.x - low.x) * unit_ + border, (each.y - low.y) * unit_ + border};
    }
    for (Point& each : layout_.bends) each = {each.x * unit_, each.y * unit_};
    middle_ = {};
    for (const Point& each : layout_.nodes) {
      middle_.x += each.x / static_cast<double>(layout_.nodes.size());
      middle_.y += each.y / static_cast<double>(layout_.nodes.size());
    }
    width_ = (high.x - low.x) * unit_ + 2 * border;
    height_ = (high.y - low.y) * unit_ + 2 * border;
  }

  /// Shifts everything if an arc leaves the paper.
  void make_room_for_arcs() {
    Point low{};
    Point high{width_, height_};
    constexpr double beside = 36;  // Half of a label.
    for (const OverlayHop& hop : hops_) {
      const Point middle = arc(hop, {}).middle();
      low = {std::min(low.x, middle.x - beside), std::min(low.y, middle.y - around)};
      high = {std::max(high.x, middle.x + beside), std::max(high.y, middle.y + around)};
    }
    for (Point& each : layout_.nodes) each = {each.x - low.x, each.y - low.y};
    middle_ = {middle_.x - low.x, middle_.y - low.y};
    width_ = high.x - low.x;
    height_ = high.y - low.y;
  }

  [[nodiscard]] OverlayArc arc(const OverlayHop& hop, Point corner) const {
    const auto at = [&](Rank rank) {
      const Point& node = layout_.nodes[network_.ranks[rank].index()];
      return Point{node.x + corner.x, node.y + corner.y};
    };
    const Point from = at(hop.from);
    const Point to = at(hop.to);
    const auto from_middle = [&](const OverlayArc& curve) {
      return std::hypot(curve.middle().x - corner.x - middle_.x,
                        curve.middle().y - corner.y - middle_.y);
    };
    const OverlayArc left(from, to, rank_radius + 3, true);
    const OverlayArc right(from, to, rank_radius + 3, false);
    const bool and_back = std::any_of(hops_.begin(), hops_.end(), [&](const OverlayHop& other) {
      return other.from == hop.to && other.to == hop.from;
    });
    // Away from the links at the edge of the picture.
    return and_back || from_middle(left) <= from_middle(right) ? left : right;
  }

  void measure_loads() {
    if (network_.links.empty()) return;
    bandwidth_ = network_.links.front().bytes_per_second;
    for (std::size_t l = 0; l < network_.links.size(); ++l) {
      uniform_ = uniform_ && network_.links[l].bytes_per_second == bandwidth_;
      busiest_ = std::max(busiest_, seconds(l));
    }
  }

  [[nodiscard]] double seconds(std::size_t link) const {
    return traffic_.empty() ? 0 : traffic_[link].bytes / network_.links[link].bytes_per_second;
  }

  [[nodiscard]] std::size_t heat(std::size_t link) const {
    if (seconds(link) <= 0) return 0;
    constexpr double rounding = 1e-9;
    const double share = seconds(link) / busiest_ * (heat_steps - 1);
    return static_cast<std::size_t>(std::clamp(std::ceil(share - rounding), 1.0, heat_steps - 1.0));
  }

  [[nodiscard]] std::string story(std::size_t link) const {
    std::string text = network_.describe(LinkId{static_cast<std::uint32_t>(link)}) + ", " +
                       in_words(Measure::bytes_per_second, network_.links[link].bytes_per_second);
    if (traffic_.empty()) return text;
    const LinkTraffic& traffic = traffic_[link];
    if (!hops_.empty()) {
      return text + ": " + std::to_string(std::lround(traffic.bytes)) + " hops of the overlay";
    }
    text += ": " + in_words(Measure::bytes, traffic.bytes);
    if (traffic.bytes > 0) text += ", busy for " + in_words(Measure::seconds, seconds(link));
    constexpr std::size_t most_named = 12;
    for (std::size_t i = 0; i < traffic.pairs.size() && i < most_named; ++i) {
      const auto& [from, to] = traffic.pairs[i];
      text += (i == 0 ? "; for " : ", ") + std::to_string(from) + " → " + std::to_string(to);
    }
    const std::size_t more = traffic.pairs.size() - std::min(most_named, traffic.pairs.size());
    return more == 0 ? text : text + " and " + std::to_string(more) + " more pairs";
  }

  void draw_link(Svg& svg, std::size_t index, Point corner) const {
    const Link& link = network_.links[index];
    const Point from = layout_.nodes[link.from.index()];
    const Point to = layout_.nodes[link.to.index()];
    const Point way{to.x - from.x, to.y - from.y};
    const double length = std::max(1.0, std::hypot(way.x, way.y));
    const Point ahead{way.x / length, way.y / length};
    constexpr double aside = 3.2;
    const Point side{-ahead.y * aside + corner.x, ahead.x * aside + corner.y};
    const Point bend = layout_.bends[index];
    PathData data;
    if (bend == Point{}) {
      const double first = reach(network_[link.from].kind) - 2;
      const double last = reach(network_[link.to].kind) - 2;
      data.move({from.x + side.x + ahead.x * first, from.y + side.y + ahead.y * first});
      data.line({to.x + side.x - ahead.x * last, to.y + side.y - ahead.y * last});
    } else {
      // Four thirds, since a curve reaches three quarters of the distance to its control points.
      const Point over{bend.x * 4 / 3, bend.y * 4 / 3};
      const double lead = std::min(length * 0.15, unit_ * 0.6);
      const Point first{from.x + side.x, from.y + side.y};
      const Point last{to.x + side.x, to.y + side.y};
      data.move(first).curve({first.x + over.x + ahead.x * lead, first.y + over.y + ahead.y * lead},
                             {last.x + over.x - ahead.x * lead, last.y + over.y - ahead.y * lead},
                             last);
    }
    const std::string step = std::to_string(heat(index));
    svg.begin("g", {{"class", "link"}});
    svg.tooltip(story(index));
    svg.path(data.text(), "heat-" + step + "-line load-" + step);
    svg.end();
  }

  void draw_node(Svg& svg, NodeId id, Point corner) const {
    const Node& node = network_[id];
    const Point at{layout_.nodes[id.index()].x + corner.x, layout_.nodes[id.index()].y + corner.y};
    svg.begin("g", {{"class", "node"}});
    svg.tooltip(std::string(name(node.kind)) + " " + node.name);
    render::draw_node(svg, node, at);
    if (const auto rank = network_.rank_of(id)) {
      draw_name(svg, node, *rank, at);
    }
    svg.end();
  }

  /// A name of the caller's own that is too long for the circle is written below it.
  void draw_name(Svg& svg, const Node& node, Rank rank, Point at) const {
    const std::string number = std::to_string(rank);
    const bool is_own = !hops_.empty() && node.name != "r" + number;
    const std::string& name = is_own ? node.name : number;
    const bool fits = text_width(name, number_size) < 2 * rank_radius;
    svg.text({at.x, at.y + (fits ? number_size * 0.36 : rank_radius + number_size + 1)}, name,
             {.size = number_size, .style = "ink", .anchor = Anchor::middle});
  }

  void add_kinds(Legend& legend) const {
    constexpr std::array kinds{NodeKind::rank, NodeKind::host, NodeKind::nic, NodeKind::switch_};
    for (const NodeKind kind : kinds) {
      const bool any = std::any_of(network_.nodes.begin(), network_.nodes.end(),
                                   [&](const Node& node) { return node.kind == kind; });
      if (!any) continue;
      legend.add(24, std::string(name(kind)), [kind](Svg& svg, Point at) {
        render::draw_node(svg, {.name = "", .kind = kind}, {at.x + 12, at.y});
      });
    }
  }

  const Network& network_;
  const std::vector<LinkTraffic>& traffic_;
  const std::vector<OverlayHop>& hops_;
  NetworkLayout layout_;
  double unit_ = hops_.empty() ? unit : wide_unit;
  bool uniform_ = true;  ///< True if all links have the same bandwidth.
  double bandwidth_ = 0;
  double busiest_ = 0;  ///< In seconds.
  double width_ = 0;
  double height_ = 0;
  Point middle_{};  ///< The mean of all nodes.
};

}  // namespace

void require_drawable(const Network& network) {
  if (network.nodes.size() <= most_drawn_nodes) return;
  throw Error(ErrorCode::unsupported, "'" + network.name + "' has " +
                                          std::to_string(network.nodes.size()) +
                                          " nodes; at most " + std::to_string(most_drawn_nodes) +
                                          " can be drawn: use a smaller network");
}

namespace {

std::string draw(const Network& network, const std::vector<LinkTraffic>& traffic,
                 const std::vector<OverlayHop>& hops, const Caption& caption) {
  require_drawable(network);
  const Picture picture(network, traffic, hops);
  const double width = std::max(narrowest_paper, picture.width() + 2 * margin);
  const Heading heading(caption, width - 2 * margin);
  const Legend legend = picture.legend(width - 2 * margin);
  const double top = margin + heading.height() + legend.height() + 8;
  Svg svg(width, top + picture.height() + margin, caption.title, heading.description());
  heading.draw(svg, {margin, margin});
  legend.draw(svg, {margin, margin + heading.height()});
  picture.draw(svg, {(width - picture.width()) / 2, top});
  return svg.document();
}

}  // namespace

std::string draw_network(const Network& network, const std::vector<LinkTraffic>& traffic,
                         const Caption& caption) {
  return draw(network, traffic, {}, caption);
}

std::string draw_overlay(const Network& network, const std::vector<OverlayHop>& hops,
                         const std::vector<std::uint32_t>& crossings, const Caption& caption) {
  std::vector<LinkTraffic> traffic;
  traffic.reserve(crossings.size());
  for (const std::uint32_t count : crossings) {
    traffic.push_back({.bytes = static_cast<double>(count), .pairs = {}});
  }
  return draw(network, traffic, hops, caption);
}

}  // namespace tutti::render
