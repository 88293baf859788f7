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

/// What a node is. Ranks of one host hang off that host's node, and share its NICs.
enum class NodeKind : std::uint8_t { rank, host, nic, switch_ };

/// "rank", "host", "nic", "switch".
[[nodiscard]] TUTTI_API std::string_view name(NodeKind kind);

struct Node {
  std::string name{};
  NodeKind kind = NodeKind::switch_;
  /// How high it stands in a Clos network, in which routes go up and then down: ranks at 0, the
  /// switches that they hang off at 1. Zero everywhere in other networks.
  std::uint32_t level = 0;

  friend bool operator==(const Node&, const Node&) = default;
};

/// A wire in one direction. What runs both ways is two of them.
struct Link {
  NodeId from{};
  NodeId to{};
  double bytes_per_second = 0;
  double latency = 0;  ///< In seconds.

  friend bool operator==(const Link&, const Link&) = default;
};

/// A path that somebody wants for a pair of ranks, whatever the policy says.
struct OwnRoute {
  Rank from{};
  Rank to{};
  std::vector<LinkId> links{};

  friend bool operator==(const OwnRoute&, const OwnRoute&) = default;
};

/// Wirings whose routes are arithmetic. All but Torus also promise the order of their links, which
/// stands with their generators.
namespace wiring {

/// Ranks on a grid that closes in every dimension. The first dimension varies fastest.
struct Torus {
  std::vector<std::uint32_t> dimensions{};

  friend bool operator==(const Torus&, const Torus&) = default;
};

/// Three levels of switches: `pods` of `edges` edge switches with `hosts` ranks each, `spines`
/// aggregation switches a pod, and `cores` core switches above each of those.
struct FatTree {
  std::uint32_t pods = 0;
  std::uint32_t edges = 0;
  std::uint32_t hosts = 0;
  std::uint32_t spines = 0;
  std::uint32_t cores = 0;

  friend bool operator==(const FatTree&, const FatTree&) = default;
};

/// Hosts of `ranks` ranks with `rails` NICs, where the k-th NICs of all hosts share a switch.
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

  /// Which router of a group has the link to another group.
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

/// What is known of a network's wiring; nothing, for most.
using Wiring = std::variant<std::monostate, wiring::Torus, wiring::FatTree, wiring::Rails,
                            wiring::Dragonfly, wiring::FullMesh>;

/// The underlay: a graph of ranks, hosts, NICs and switches, joined by directed links.
///
/// A value: it holds no pointer and no clock, and two can be compared with ==.
struct Network {
  /// What people call it: "torus:4x4", or the name of the file.
  std::string name{};
  std::vector<Node> nodes{};
  std::vector<Link> links{};
  /// ranks[r] is the node of rank r.
  std::vector<NodeId> ranks{};
  /// Whether routes may lead through ranks, as those of TPUs do.
  bool ranks_forward = false;
  Wiring wiring{};
  std::vector<OwnRoute> own_routes{};

  /// Adds a node; one of kind rank becomes the next rank.
  TUTTI_API NodeId add(std::string node_name, NodeKind kind, std::uint32_t level = 0);
  /// Adds a link. Throws invalid_argument that names it unless both ends are there and differ, the
  /// bandwidth is positive and the latency not negative.
  TUTTI_API LinkId add_link(NodeId from, NodeId to, double bytes_per_second, double latency);
  /// Adds a link and, right behind it, the one back.
  TUTTI_API LinkId join(NodeId a, NodeId b, double bytes_per_second, double latency);

  [[nodiscard]] std::uint32_t rank_count() const {
    return static_cast<std::uint32_t>(ranks.size());
  }
  [[nodiscard]] const Node& operator[](NodeId node) const { return nodes[node.index()]; }
  [[nodiscard]] const Link& operator[](LinkId link) const { return links[link.index()]; }
  [[nodiscard]] const Node& node_of(Rank rank) const { return (*this)[ranks[rank.index()]]; }
  /// The rank that a node is; none for hosts, NICs and switches.
  [[nodiscard]] TUTTI_API std::optional<Rank> rank_of(NodeId node) const;

  /// "A→B": for messages.
  [[nodiscard]] TUTTI_API std::string describe(LinkId link) const;

  /// Throws invalid_argument that names the culprit unless there are ranks, every link is sound,
  /// every name is given once, and rank 0 can reach every rank and be reached by it.
  TUTTI_API void check() const;

  friend bool operator==(const Network&, const Network&) = default;
};

}  // namespace tutti
