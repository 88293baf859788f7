#include <array>
#include <unordered_map>

#include <tutti/error.hpp>
#include <tutti/network/network_json.hpp>

#include "core/json.hpp"
#include "core/nearest.hpp"
#include "core/quantity.hpp"
#include "topology/lined_json.hpp"
#include "topology/routers/torus_router.hpp"

namespace tutti {
namespace {

constexpr std::string_view format_name = "tutti-network";
constexpr std::uint32_t format_version = 1;
constexpr std::array kinds{NodeKind::rank, NodeKind::host, NodeKind::nic, NodeKind::switch_};

// ---------------------------------------------------------------------------------- writing

template <class T>
std::string written(const T& value) {
  try {
    return Json(value).dump();
  } catch (const JsonError&) {
    throw Error(ErrorCode::invalid_argument, "network JSON: every name must be UTF-8");
  }
}

/// Items between brackets, one per line.
class LineList {
 public:
  explicit LineList(std::string& out) : out_(out) {}
  void add(const std::string& item) {
    out_ += first_ ? "\n    " : ",\n    ";
    out_ += item;
    first_ = false;
  }
  void end() { out_ += first_ ? "]" : "\n  ]"; }

 private:
  std::string& out_;
  bool first_ = true;
};

std::string node_json(const Node& node) {
  std::string out = "{\"name\": " + written(node.name) + ", \"kind\": " + written(name(node.kind));
  if (node.level != 0) out += ", \"level\": " + std::to_string(node.level);
  return out + "}";
}

std::string link_json(const Network& network, const Link& link, bool both_ways) {
  return "{\"from\": " + written(network[link.from].name) +
         ", \"to\": " + written(network[link.to].name) +
         ", \"bandwidth\": " + written(link.bytes_per_second) +
         ", \"latency\": " + written(link.latency) + (both_ways ? ", \"both_ways\": true}" : "}");
}

bool is_answer(const Link& link, const Link& back) {
  return link.from == back.to && link.to == back.from &&
         link.bytes_per_second == back.bytes_per_second && link.latency == back.latency;
}

std::string route_json(const Network& network, const OwnRoute& route) {
  std::string out = "[" + written(network.node_of(route.from).name);
  for (const LinkId link : route.links) out += ", " + written(network[network[link].to].name);
  return out + "]";
}

// ---------------------------------------------------------------------------------- reading

NodeKind read_kind(const LinedJson& json) {
  std::vector<std::string_view> names;
  for (const NodeKind kind : kinds) {
    if (name(kind) == json.text()) return kind;
    names.push_back(name(kind));
  }
  json.reject("unknown kind of node '" + json.text() + "'." + did_you_mean(json.text(), names) +
              " Known are rank, host, nic and switch");
}

/// A number in the base unit, or a string with a unit.
double read_quantity(const LinedJson& json, double (*parse)(std::string_view)) {
  if (json.kind() == LinedJson::Kind::number) return json.number();
  try {
    return parse(json.text());
  } catch (const Error& error) {
    // A value of another kind has already been rejected with its line.
    if (json.kind() != LinedJson::Kind::text) throw;
    json.reject(error.what());
  }
}

class JsonReader {
 public:
  [[nodiscard]] Network read(const LinedJson& document) {
    if (document.member("format").text() != format_name) {
      document.member("format").reject("expected \"" + std::string(format_name) + "\"");
    }
    (void)document.member("version").whole_number(format_version, format_version);
    document.allow_only({"format", "version", "name", "ranks_forward", "torus", "grid", "nodes",
                         "links", "routes"});
    if (const LinedJson* name = document.find("name")) network_.name = name->text();
    if (const LinedJson* forward = document.find("ranks_forward")) {
      network_.ranks_forward = forward->boolean();
    }
    for (const LinedJson& node : document.member("nodes").items()) read_node(node);
    for (const LinedJson& link : document.member("links").items()) read_link(link);
    if (const LinedJson* torus = document.find("torus")) read_torus(*torus, true);
    if (const LinedJson* grid = document.find("grid")) {
      if (document.find("torus") != nullptr)
        grid->reject("a network is a torus or a grid, not both");
      read_torus(*grid, false);
    }
    if (const LinedJson* routes = document.find("routes")) {
      for (const LinedJson& route : routes->items()) read_route(route);
    }
    try {
      network_.check();
    } catch (const Error& error) {
      document.member("links").reject(error.what());
    }
    return std::move(network_);
  }

 private:
  void read_node(const LinedJson& json) {
    json.allow_only({"name", "kind", "level"});
    const std::string& name = json.member("name").text();
    if (name.empty()) json.member("name").reject("a node needs a name");
    const LinedJson* const level = json.find("level");
    constexpr std::uint32_t highest = 1000;
    const NodeId id = network_.add(name, read_kind(json.member("kind")),
                                   level != nullptr ? level->whole_number(0, highest) : 0);
    if (!nodes_.emplace(name, id).second) {
      json.member("name").reject("another node already has the name '" + name + "'");
    }
  }

  [[nodiscard]] NodeId node_named(const LinedJson& json) const {
    const auto found = nodes_.find(json.text());
    if (found != nodes_.end()) return found->second;
    std::vector<std::string_view> names;
    for (const Node& node : network_.nodes) names.push_back(node.name);
    json.reject("there is no node '" + json.text() + "'." + did_you_mean(json.text(), names));
  }

  void read_link(const LinedJson& json) {
    json.allow_only({"from", "to", "bandwidth", "latency", "both_ways"});
    const NodeId from = node_named(json.member("from"));
    const NodeId to = node_named(json.member("to"));
    const double bandwidth = read_quantity(json.member("bandwidth"), parse_rate);
    const LinedJson* const latency_json = json.find("latency");
    const double latency =
        latency_json != nullptr ? read_quantity(*latency_json, parse_seconds) : 0;
    const LinedJson* const both_ways = json.find("both_ways");
    try {
      add_link(from, to, bandwidth, latency);
      if (both_ways != nullptr && both_ways->boolean()) add_link(to, from, bandwidth, latency);
    } catch (const Error& error) {
      json.reject(error.what());
    }
  }

  void add_link(NodeId from, NodeId to, double bandwidth, double latency) {
    links_.emplace(pair_of(from, to), network_.add_link(from, to, bandwidth, latency));
  }

  void read_torus(const LinedJson& json, bool wraps) {
    wiring::Torus torus{.dimensions = {}, .wraps = wraps};
    for (const LinedJson& side : json.items()) {
      torus.dimensions.push_back(side.whole_number(1, network_.rank_count()));
    }
    try {
      (void)TorusRouter(network_, torus);
    } catch (const Error& error) {
      json.reject(error.what());
    }
    network_.wiring = std::move(torus);
  }

  void read_route(const LinedJson& json) {
    const auto& stops = json.items();
    if (stops.size() < 2) json.reject("a route is a list of at least two names");
    OwnRoute route{.from = rank_named(stops.front()), .to = rank_named(stops.back()), .links = {}};
    for (std::size_t i = 1; i < stops.size(); ++i) {
      const auto found = links_.find(pair_of(node_named(stops[i - 1]), node_named(stops[i])));
      if (found == links_.end()) {
        stops[i].reject("there is no link from " + stops[i - 1].text() + " to " + stops[i].text());
      }
      route.links.push_back(found->second);
    }
    network_.own_routes.push_back(std::move(route));
  }

  [[nodiscard]] Rank rank_named(const LinedJson& json) const {
    const std::optional<Rank> rank = network_.rank_of(node_named(json));
    if (!rank) json.reject("a route begins and ends at a rank, but " + json.text() + " is not one");
    return *rank;
  }

  static std::uint64_t pair_of(NodeId from, NodeId to) {
    return (std::uint64_t{from.index()} << 32) | to.index();
  }

  Network network_;
  std::unordered_map<std::string, NodeId> nodes_;
  std::unordered_map<std::uint64_t, LinkId> links_;
};

}  // namespace

std::string to_json(const Network& network) {
  std::string out = "{\n  \"format\": " + written(format_name) +
                    ",\n  \"version\": " + std::to_string(format_version) +
                    ",\n  \"name\": " + written(network.name) +
                    ",\n  \"ranks_forward\": " + written(network.ranks_forward);
  if (const auto* torus = std::get_if<wiring::Torus>(&network.wiring)) {
    out += torus->wraps ? ",\n  \"torus\": " : ",\n  \"grid\": ";
    out += written(torus->dimensions);
  }
  out += ",\n  \"nodes\": [";
  LineList nodes(out);
  for (const Node& node : network.nodes) nodes.add(node_json(node));
  nodes.end();
  out += ",\n  \"links\": [";
  LineList links(out);
  for (std::size_t i = 0; i < network.links.size(); ++i) {
    const Link& link = network.links[i];
    const bool both_ways = i + 1 < network.links.size() && is_answer(link, network.links[i + 1]);
    links.add(link_json(network, link, both_ways));
    if (both_ways) ++i;
  }
  links.end();
  if (!network.own_routes.empty()) {
    out += ",\n  \"routes\": [";
    LineList routes(out);
    for (const OwnRoute& route : network.own_routes) routes.add(route_json(network, route));
    routes.end();
  }
  return out + "\n}\n";
}

Network network_from_json(std::string_view text) {
  return JsonReader().read(LinedJson::parse(text));
}

}  // namespace tutti
