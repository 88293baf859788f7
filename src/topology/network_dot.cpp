#include <map>
#include <tuple>

#include <tutti/network/network_dot.hpp>

#include "core/quantity.hpp"

namespace tutti {
namespace {

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string_view look(NodeKind kind) {
  switch (kind) {
    case NodeKind::rank:
      return "shape=circle, style=filled, fillcolor=lightblue";
    case NodeKind::host:
      return "shape=box, style=rounded";
    case NodeKind::nic:
      return "shape=box, height=0.2, fontsize=9";
    case NodeKind::switch_:
      return "shape=box, style=filled, fillcolor=lightgrey";
  }
  return "";
}

/// Two links with equal ends and equal figures are drawn as one.
using Ends = std::tuple<NodeId, NodeId, double, double>;

}  // namespace

std::string to_dot(const Network& network) {
  std::string out = "digraph " + in_quotes(network.name) + " {\n";
  for (const Node& node : network.nodes) {
    out += "  " + in_quotes(node.name) + " [" + std::string(look(node.kind)) + "];\n";
  }
  std::map<Ends, int> unpaired;
  for (const Link& link : network.links) {
    ++unpaired[{link.from, link.to, link.bytes_per_second, link.latency}];
  }
  for (const Link& link : network.links) {
    int& here = unpaired[{link.from, link.to, link.bytes_per_second, link.latency}];
    if (here == 0) continue;  // Already drawn together with the reverse link.
    --here;
    const auto back = unpaired.find({link.to, link.from, link.bytes_per_second, link.latency});
    const bool both = back != unpaired.end() && back->second > 0;
    if (both) --back->second;
    out += "  " + in_quotes(network[link.from].name) + " -> " + in_quotes(network[link.to].name) +
           " [label=" +
           in_quotes(format_rate(link.bytes_per_second) + ", " + format_seconds(link.latency)) +
           (both ? ", dir=none" : "") + "];\n";
  }
  return out + "}\n";
}

}  // namespace tutti
