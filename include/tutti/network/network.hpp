#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/id.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// A node of a network: an index into Network::nodes.
using NodeId = Id<struct NodeTag, std::uint32_t>;

/// A directed link of a network: an index into Network::links.
using LinkId = Id<struct LinkTag, std::uint32_t>;

/// The kind of a node. Ranks of one host are linked to that host's node and share its NICs.
enum class NodeKind : std::uint8_t { rank, host, nic, switch_ };

/// "rank", "host", "nic", "switch".
[[nodiscard]] TUTTI_API std::string_view name(NodeKind kind);

struct Node {
  std::string name{};
  NodeKind kind = NodeKind::switch_;
  /// The level in a Clos network, where routes go up and then down: ranks are at level 0, their
  /// first switches at level 1. Zero for all nodes of other networks.
  std::uint32_t level = 0;

  friend bool operator==(const Node&, const Node&) = default;
};

/// A wire in one direction. A full-duplex link is two of them.
struct Link {
  NodeId from{};
  NodeId to{};
  double bytes_per_second = 0;
  double latency = 0;  ///< In seconds.

  friend bool operator==(const Link&, const Link&) = default;
};

/// A fixed route for a pair of ranks. It overrides the routing policy.
struct OwnRoute {
  Rank from{};
  Rank to{};
  std::vector<LinkId> links{};

  friend bool operator==(const OwnRoute&, const OwnRoute&) = default;
};

/// Wirings whose routes are computed by arithmetic. All but Torus also fix the order of their
/// links, which is documented in their generators.
namespace wiring {

/// Ranks on a grid that wraps around in every dimension. The first dimension varies fastest.
struct Torus {
  std::vector<std::uint32_t> dimensions{};
  bool wraps = true;  ///< False for a grid with borders.

  friend bool operator==(const Torus&, const Torus&) = default;
};

/// Three levels of switches: `pods` of `edges` edge switches with `hosts` ranks each, `spines`
/// aggregation switches per pod, and `cores` core switches above each aggregation switch.
struct FatTree {
  std::uint32_t pods = 0;
  std::uint32_t edges = 0;
  std::uint32_t hosts = 0;
  std::uint32_t spines = 0;
  std::uint32_t cores = 0;

  friend bool operator==(const FatTree&, const FatTree&) = default;
};

/// Hosts of `ranks` ranks with `rails` NICs. The k-th NICs of all hosts share a switch.
struct Rails {
  std::uint32_t hosts = 0;
  std::uint32_t ranks = 0;
  std::uint32_t rails = 0;

  friend bool operator==(const Rails&, const Rails&) = default;
};

/// Groups of `routers` routers with `ranks` ranks each; one link each way between any two groups.
struct Dragonfly {
  std::uint32_t groups = 0;
  std::uint32_t routers = 0;
  std::uint32_t ranks = 0;

  /// The router of `group` that has the link to group `other`.
  [[nodiscard]] std::uint32_t exit(std::uint32_t group, std::uint32_t other) const {
    return (other + groups - group - 1) % groups % routers;
  }

  friend bool operator==(const Dragonfly&, const Dragonfly&) = default;
};

/// A link from every rank to every other.
struct FullMesh {
  friend bool operator==(const FullMesh&, const FullMesh&) = default;
};

}  // namespace wiring

/// The known wiring of a network. Most networks have none.
using Wiring = std::variant<std::monostate, wiring::Torus, wiring::FatTree, wiring::Rails,
                            wiring::Dragonfly, wiring::FullMesh>;

/// The underlay: a graph of ranks, hosts, NICs and switches, joined by directed links.
///
/// A value: it holds no pointer and no clock, and two can be compared with ==.
struct Network {
  /// The name shown to users: "torus:4x4", or the name of the file.
  std::string name{};
  std::vector<Node> nodes{};
  std::vector<Link> links{};
  /// ranks[r] is the node of rank r.
  std::vector<NodeId> ranks{};
  /// True if routes may pass through ranks, as on TPUs.
  bool ranks_forward = false;
  Wiring wiring{};
  std::vector<OwnRoute> own_routes{};

  /// Adds a node. A node of kind rank becomes the next rank.
  TUTTI_API NodeId add(std::string node_name, NodeKind kind, std::uint32_t level = 0);
  /// Adds a link. Throws invalid_argument, naming the link, unless both ends exist and differ, the
  /// bandwidth is positive and the latency is not negative.
  TUTTI_API LinkId add_link(NodeId from, NodeId to, double bytes_per_second, double latency);
  /// Adds a link and, directly after it, the link in the other direction.
  TUTTI_API LinkId join(NodeId a, NodeId b, double bytes_per_second, double latency);

  [[nodiscard]] std::uint32_t rank_count() const {
    return static_cast<std::uint32_t>(ranks.size());
  }
  [[nodiscard]] const Node& operator[](NodeId node) const { return nodes[node.index()]; }
  [[nodiscard]] const Link& operator[](LinkId link) const { return links[link.index()]; }
  [[nodiscard]] const Node& node_of(Rank rank) const { return (*this)[ranks[rank]]; }
  /// The rank of a node. Empty for hosts, NICs and switches.
  [[nodiscard]] TUTTI_API std::optional<Rank> rank_of(NodeId node) const;

  /// "A→B", for error messages.
  [[nodiscard]] TUTTI_API std::string describe(LinkId link) const;

  /// Throws invalid_argument, naming the node or link at fault, unless there is at least one rank,
  /// every link is valid, every node name is unique, and rank 0 has a path to and from every rank.
  TUTTI_API void check() const;

  friend bool operator==(const Network&, const Network&) = default;
};

}  // namespace tutti
