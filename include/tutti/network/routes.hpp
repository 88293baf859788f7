#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// How a route is chosen among the possible paths.
enum class RoutePolicy : std::uint8_t {
  automatic,        ///< The policy of the wiring: one of those below, or a rule of its own.
  shortest,         ///< The first of the paths with the fewest links.
  ecmp,             ///< A shortest path; at every fork chosen by a hash of seed, ranks and flow.
  dimension_order,  ///< On a torus: along the first dimension, then the second, …
  up_down,          ///< On a Clos network: up, then down; the destination determines the way up.
};

/// "automatic", "shortest", "ecmp", "dimension_order", "up_down".
[[nodiscard]] TUTTI_API std::string_view name(RoutePolicy policy);

/// The inverse of name(). Throws invalid_argument and suggests the nearest name.
[[nodiscard]] TUTTI_API RoutePolicy parse_route_policy(std::string_view text);

struct RouteOptions {
  RoutePolicy policy = RoutePolicy::automatic;
  /// Determines the choice among equal paths. The same seed gives the same choice.
  std::uint64_t seed = 0;
};

/// The routes between the ranks of a network, computed on demand.
///
/// Routes of tori, fat trees, rails, dragonflies, meshes and trees are computed by arithmetic.
/// Other networks need one search per destination, whose result is cached. Queries change the
/// cache, so use one object per thread.
class TUTTI_API Routes {
 public:
  /// Copies all it needs: the network may be destroyed afterwards. Throws invalid_argument if the
  /// network is not valid or the policy does not fit it.
  explicit Routes(const Network& network, RouteOptions options = {});
  ~Routes();
  Routes(Routes&&) noexcept;
  Routes& operator=(Routes&&) noexcept;
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;

  /// The policy in use. It is `automatic` only if the wiring has a rule of its own: rails (over the
  /// rail of the destination) and dragonflies (over one link between groups).
  [[nodiscard]] RoutePolicy policy() const;

  /// Appends the links from `from` to `to`, in order; none from a rank to itself. Only ecmp uses
  /// `flow`. Throws invalid_argument if there is no path.
  /// Requires: both are ranks of the network.
  void append(Rank from, Rank to, std::vector<LinkId>& links, std::uint64_t flow = 0);

  /// The same, returned as a new list.
  [[nodiscard]] std::vector<LinkId> between(Rank from, Rank to, std::uint64_t flow = 0);

 private:
  class TUTTI_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti
