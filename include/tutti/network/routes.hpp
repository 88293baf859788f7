#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// How a path is chosen among the many that a network offers.
enum class RoutePolicy : std::uint8_t {
  automatic,        ///< What the wiring asks for: one of those below, or its own way.
  shortest,         ///< The first of the shortest, by the number of links.
  ecmp,             ///< One of the shortest, at every fork by a hash of seed, ranks and flow.
  dimension_order,  ///< On a torus: along the first dimension, then the second, …
  up_down,          ///< On a Clos network: up, then down; the way up depends on the destination.
};

/// "automatic", "shortest", "ecmp", "dimension_order", "up_down".
[[nodiscard]] TUTTI_API std::string_view name(RoutePolicy policy);

/// The inverse of name(). Throws invalid_argument that suggests the nearest.
[[nodiscard]] TUTTI_API RoutePolicy parse_route_policy(std::string_view text);

struct RouteOptions {
  RoutePolicy policy = RoutePolicy::automatic;
  /// Another seed, another choice among equal paths; the same seed, the same.
  std::uint64_t seed = 0;
};

/// The paths between the ranks of a network, each worked out when asked for.
///
/// Paths of tori, fat trees, rails, dragonflies, meshes and trees are arithmetic; those of other
/// networks follow from a search per destination, which is kept. So asking changes the object: one
/// for each thread.
class TUTTI_API Routes {
 public:
  /// Takes from the network all it needs: the network may go. Throws invalid_argument if the
  /// network is not sound or the policy does not fit it.
  explicit Routes(const Network& network, RouteOptions options = {});
  ~Routes();
  Routes(Routes&&) noexcept;
  Routes& operator=(Routes&&) noexcept;
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;

  /// The policy in force: automatic only if it is the wiring's own way, which is that of rails
  /// (along the rail of the destination) and dragonflies (over one link between groups).
  [[nodiscard]] RoutePolicy policy() const;

  /// Appends the links from `from` to `to`, in order; none from a rank to itself. Only ecmp heeds
  /// `flow`. Throws invalid_argument if there is no path.
  /// Requires: both are ranks of the network.
  void append(Rank from, Rank to, std::vector<LinkId>& links, std::uint64_t flow = 0);

  /// The same as a list of its own.
  [[nodiscard]] std::vector<LinkId> between(Rank from, Rank to, std::uint64_t flow = 0);

 private:
  class TUTTI_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti
