#include <array>
#include <unordered_map>

#include <tutti/error.hpp>
#include <tutti/network/network_json.hpp>

#include "core/json.hpp"
#include "core/nearest.hpp"
#include "core/quantity.hpp"
#include "topology/routers/torus_router.hpp"

namespace tutti {
namespace {

constexpr std::string_view format_name = "tutti-network";
constexpr std::uint32_t format_version = 1;
constexpr std::array kinds{NodeKind::rank, NodeKind::host, NodeKind::nic, NodeKind::switch_};

// ---------------------------------------------------------------------------------- writing

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
  std::string out =
      "{\"name\": " + json_string(node.name) + ", \"kind\": " + json_string(name(node.kind));
  if (node.level != 0) out += ", \"level\": " + std::to_string(node.level);
  return out + "}";
}

std::string link_json(const Network& network, const Link& link, bool both_ways) {
  return "{\"from\": " + json_string(network[link.from].name) +
         ", \"to\": " + json_string(network[link.to].name) +
         ", \"bandwidth\": " + json_number(link.bytes_per_second) +
         ", \"latency\": " + json_number(link.latency) +
         (both_ways ? ", \"both_ways\": true}" : "}");
}

bool is_answer(const Link& link, const Link& back) {
  return link.from == back.to && link.to == back.from &&
         link.bytes_per_second == back.bytes_per_second && link.latency == back.latency;
}

std::string route_json(const Network& network, const OwnRoute& route) {
  std::string out = "[" + json_string(network.node_of(route.from).name);
  for (const LinkId link : route.links) out += ", " + json_string(network[network[link].to].name);
  return out + "]";
}

// ---------------------------------------------------------------------------------- reading

NodeKind read_kind(const JsonReader& json) {
  std::vector<std::string_view> names;
  for (const NodeKind kind : kinds) {
    if (name(kind) == json.string()) return kind;
    names.push_back(name(kind));
  }
  json.reject("unknown kind of node '" + json.string() + "'." + did_you_mean(json.string(), names) +
              " Known are rank, host, nic and switch");
}

/// A number in the base unit, or a string with a unit.
double read_quantity(const JsonReader& json, double (*parse)(std::string_view)) {
  if (json.is_number()) return json.get<double>();
  return json.checked([&] { return parse(json.string()); });
}

class NetworkReader {
 public:
  [[nodiscard]] Network read(const JsonReader& document) {
    if (document.at("format").string() != format_name) {
      document.at("format").reject("expected \"" + std::string(format_name) + "\"");
    }
    (void)document.at("version").whole(format_version, format_version);
    document.allow_only({"format", "version", "name", "ranks_forward", "torus", "grid", "nodes",
                         "links", "routes"});
    network_.name = document.value("name", network_.name);
    network_.ranks_forward = document.value("ranks_forward", network_.ranks_forward);
    for (const JsonReader node : document.at("nodes").elements()) read_node(node);
    for (const JsonReader link : document.at("links").elements()) read_link(link);
    if (const std::optional<JsonReader> torus = document.find("torus")) read_torus(*torus, true);
    if (const std::optional<JsonReader> grid = document.find("grid")) {
      if (document.contains("torus")) grid->reject("a network is a torus or a grid, not both");
      read_torus(*grid, false);
    }
    for (const JsonReader& route : document.value("routes", std::vector<JsonReader>())) {
      read_route(route);
    }
    document.at("links").checked([&] { network_.check(); });
    return std::move(network_);
  }

 private:
  void read_node(const JsonReader& json) {
    json.allow_only({"name", "kind", "level"});
    const std::string& name = json.at("name").string();
    if (name.empty()) json.at("name").reject("a node needs a name");
    constexpr std::uint32_t highest = 1000;
    const std::optional<JsonReader> level = json.find("level");
    const NodeId id = network_.add(name, read_kind(json.at("kind")),
                                   level ? level->whole<std::uint32_t>(0, highest) : 0);
    if (!nodes_.emplace(name, id).second) {
      json.at("name").reject("another node already has the name '" + name + "'");
    }
  }

  [[nodiscard]] NodeId node_named(const JsonReader& json) const {
    const auto found = nodes_.find(json.string());
    if (found != nodes_.end()) return found->second;
    std::vector<std::string_view> names;
    for (const Node& node : network_.nodes) names.push_back(node.name);
    json.reject("there is no node '" + json.string() + "'." + did_you_mean(json.string(), names));
  }

  void read_link(const JsonReader& json) {
    json.allow_only({"from", "to", "bandwidth", "latency", "both_ways"});
    const NodeId from = node_named(json.at("from"));
    const NodeId to = node_named(json.at("to"));
    const double bandwidth = read_quantity(json.at("bandwidth"), parse_rate);
    const std::optional<JsonReader> given = json.find("latency");
    const double latency = given ? read_quantity(*given, parse_seconds) : 0;
    const bool both_ways = json.value("both_ways", false);
    json.checked([&] {
      add_link(from, to, bandwidth, latency);
      if (both_ways) add_link(to, from, bandwidth, latency);
    });
  }

  void add_link(NodeId from, NodeId to, double bandwidth, double latency) {
    links_.emplace(pair_of(from, to), network_.add_link(from, to, bandwidth, latency));
  }

  void read_torus(const JsonReader& json, bool wraps) {
    wiring::Torus torus{.dimensions = {}, .wraps = wraps};
    for (const JsonReader side : json.elements()) {
      torus.dimensions.push_back(side.whole<std::uint32_t>(1, network_.rank_count()));
    }
    json.checked([&] { (void)TorusRouter(network_, torus); });
    network_.wiring = std::move(torus);
  }

  void read_route(const JsonReader& json) {
    if (json.size() < 2) json.reject("a route is a list of at least two names");
    OwnRoute route{
        .from = rank_named(json[0]), .to = rank_named(json[json.size() - 1]), .links = {}};
    for (std::size_t i = 1; i < json.size(); ++i) {
      const auto found = links_.find(pair_of(node_named(json[i - 1]), node_named(json[i])));
      if (found == links_.end()) {
        json[i].reject("there is no link from " + json[i - 1].string() + " to " + json[i].string());
      }
      route.links.push_back(found->second);
    }
    network_.own_routes.push_back(std::move(route));
  }

  [[nodiscard]] Rank rank_named(const JsonReader& json) const {
    const std::optional<Rank> rank = network_.rank_of(node_named(json));
    if (!rank)
      json.reject("a route begins and ends at a rank, but " + json.string() + " is not one");
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
  std::string out = "{\n  \"format\": " + json_string(format_name) +
                    ",\n  \"version\": " + std::to_string(format_version) +
                    ",\n  \"name\": " + json_string(network.name) +
                    ",\n  \"ranks_forward\": " + (network.ranks_forward ? "true" : "false");
  if (const auto* torus = std::get_if<wiring::Torus>(&network.wiring)) {
    out += torus->wraps ? ",\n  \"torus\": " : ",\n  \"grid\": ";
    std::string_view before = "[";
    for (const std::uint32_t side : torus->dimensions) {
      out += before;
      out += std::to_string(side);
      before = ",";
    }
    out += torus->dimensions.empty() ? "[]" : "]";
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
  return NetworkReader().read(JsonReader::parse(text));
}

}  // namespace tutti
