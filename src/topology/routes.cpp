#include <array>
#include <unordered_map>

#include <tutti/error.hpp>
#include <tutti/network/routes.hpp>

#include "core/nearest.hpp"
#include "core/reject.hpp"
#include "topology/routers/fork.hpp"
#include "topology/routers/leaf_order.hpp"
#include "topology/routers/search_router.hpp"
#include "topology/routers/torus_router.hpp"
#include "topology/routers/tree_router.hpp"
#include "topology/routers/wired_router.hpp"

namespace tutti {
namespace {

using Router = std::variant<TorusRouter, FatTreeRouter, RailsRouter, DragonflyRouter,
                            FullMeshRouter, TreeRouter, SearchRouter>;

constexpr std::array<std::string_view, 5> policy_names{"automatic", "shortest", "ecmp",
                                                       "dimension_order", "up_down"};

/// True if every link leads up or down.
bool has_levels(const Network& network) {
  for (const Link& link : network.links) {
    if (network[link.from].level == network[link.to].level) return false;
  }
  return true;
}

RoutePolicy policy_for(const Network& network) {
  if (std::holds_alternative<wiring::Torus>(network.wiring)) return RoutePolicy::dimension_order;
  if (std::holds_alternative<wiring::Rails>(network.wiring) ||
      std::holds_alternative<wiring::Dragonfly>(network.wiring)) {
    return RoutePolicy::automatic;
  }
  return has_levels(network) ? RoutePolicy::up_down : RoutePolicy::ecmp;
}

void check_policy(const Network& network, RoutePolicy policy) {
  if (policy == RoutePolicy::dimension_order &&
      !std::holds_alternative<wiring::Torus>(network.wiring)) {
    reject("dimension_order is for tori and grids, and " + network.name +
           " is not declared as one: use shortest or ecmp, or set \"torus\" in the file");
  }
  if (policy == RoutePolicy::up_down && !has_levels(network)) {
    reject("up_down needs every link to lead from one level to another, which is not so in " +
           network.name + ": use shortest or ecmp, or set levels in the file");
  }
}

Router make_router(const Network& network, RoutePolicy policy) {
  if (policy == RoutePolicy::dimension_order) {
    return TorusRouter(network, std::get<wiring::Torus>(network.wiring));
  }
  // In these networks every shortest path goes up and then down.
  if (const auto* tree = std::get_if<wiring::FatTree>(&network.wiring)) {
    return FatTreeRouter(network, *tree);
  }
  if (const auto* rails = std::get_if<wiring::Rails>(&network.wiring)) {
    return RailsRouter(network, *rails);
  }
  if (std::holds_alternative<wiring::FullMesh>(network.wiring)) return FullMeshRouter(network);
  const auto* dragonfly = std::get_if<wiring::Dragonfly>(&network.wiring);
  // Two links between groups can be shorter than one plus links inside both groups, so this route
  // is not always a shortest path.
  if (dragonfly != nullptr && policy == RoutePolicy::automatic) {
    return DragonflyRouter(network, *dragonfly);
  }
  if (TreeRouter::fits(network)) return TreeRouter(network);
  return SearchRouter(network, policy == RoutePolicy::up_down);
}

std::uint64_t pair_of(Rank from, Rank to) { return (std::uint64_t{from} << 32) | to; }

void check_own_route(const Network& network, const OwnRoute& route) {
  const std::string which = "the route from " + network.node_of(route.from).name + " to " +
                            network.node_of(route.to).name;
  NodeId at = network.ranks[route.from];
  for (const LinkId link : route.links) {
    if (network[link].from != at) {
      reject(which + " is at " + network[at].name + " but continues with the link " +
             network.describe(link));
    }
    at = network[link].to;
  }
  if (at != network.ranks[route.to]) reject(which + " ends at " + network[at].name);
}

}  // namespace

std::string_view name(RoutePolicy policy) {
  return policy_names.at(static_cast<std::size_t>(policy));
}

RoutePolicy parse_route_policy(std::string_view text) {
  for (std::size_t i = 0; i < policy_names.size(); ++i) {
    if (policy_names.at(i) == text) return static_cast<RoutePolicy>(i);
  }
  reject("unknown routing policy '" + std::string(text) + "'." + did_you_mean(text, policy_names) +
         " Known are automatic, shortest, ecmp, dimension_order and up_down");
}

class Routes::Impl {
 public:
  Impl(const Network& network, RouteOptions options)
      : policy_(options.policy == RoutePolicy::automatic ? policy_for(network) : options.policy),
        seed_(options.seed),
        router_((check_policy(network, policy_), make_router(network, policy_))) {
    // In generated networks the ranks of a leaf follow each other.
    if (policy_ == RoutePolicy::up_down && std::holds_alternative<SearchRouter>(router_)) {
      places_ = leaf_order(network);
    }
    for (const OwnRoute& route : network.own_routes) {
      check_own_route(network, route);
      own_[pair_of(route.from, route.to)] = route.links;
    }
  }

  [[nodiscard]] RoutePolicy policy() const { return policy_; }

  void append(Rank from, Rank to, std::uint64_t flow, std::vector<LinkId>& links) {
    if (from == to) return;
    if (!own_.empty()) {
      const auto found = own_.find(pair_of(from, to));
      if (found != own_.end()) {
        links.insert(links.end(), found->second.begin(), found->second.end());
        return;
      }
    }
    const std::uint32_t place = places_.empty() ? to : places_[to];
    Fork fork(policy_, seed_, from, to, place, flow);
    std::visit([&](auto& router) { router.append(from, to, fork, links); }, router_);
  }

 private:
  RoutePolicy policy_;
  std::uint64_t seed_;
  Router router_;
  std::vector<std::uint32_t> places_;  // Of ranks, leaf by leaf; empty: the ranks themselves.
  std::unordered_map<std::uint64_t, std::vector<LinkId>> own_;
};

Routes::Routes(const Network& network, RouteOptions options) {
  network.check();
  impl_ = std::make_unique<Impl>(network, options);
}

Routes::~Routes() = default;
Routes::Routes(Routes&&) noexcept = default;
Routes& Routes::operator=(Routes&&) noexcept = default;

RoutePolicy Routes::policy() const { return impl_->policy(); }

void Routes::append(Rank from, Rank to, std::vector<LinkId>& links, std::uint64_t flow) {
  impl_->append(from, to, flow, links);
}

std::vector<LinkId> Routes::between(Rank from, Rank to, std::uint64_t flow) {
  std::vector<LinkId> links;
  append(from, to, links, flow);
  return links;
}

}  // namespace tutti
