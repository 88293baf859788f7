#pragma once

#include <cstdint>

#include <tutti/network/routes.hpp>

#include "core/hash.hpp"

namespace tutti {

/// Picks one of several equal next hops at every fork along one path.
class Fork {
 public:
  /// `place`: the number of the destination for D-mod-K, see leaf_order().
  Fork(RoutePolicy policy, std::uint64_t seed, Rank from, Rank to, std::uint32_t place,
       std::uint64_t flow)
      : policy_(policy), state_(place) {
    if (policy != RoutePolicy::ecmp) return;
    const std::uint64_t pair = (std::uint64_t{from} << 32) | to;
    state_ = mixed(0, mixed(0, mixed(0, seed) ^ pair) ^ flow);
  }

  /// 0 … ways−1. Requires: ways > 0.
  [[nodiscard]] std::uint32_t pick(std::uint32_t ways) {
    switch (policy_) {
      case RoutePolicy::ecmp: {
        const auto bits = static_cast<std::uint32_t>(state_ >> 32);
        state_ = mixed(0, state_);
        return static_cast<std::uint32_t>((std::uint64_t{bits} * ways) >> 32);
      }
      case RoutePolicy::up_down:
      case RoutePolicy::automatic: {
        // Zahavi's D-mod-K, "D-Mod-K routing providing non-blocking traffic for shift permutations
        // on real life fat trees", 2010: digits of the place of the destination, so that
        // consecutive ranks of a leaf take different paths.
        const auto digit = static_cast<std::uint32_t>(state_ % ways);
        state_ /= ways;
        return digit;
      }
      default:
        return 0;
    }
  }

 private:
  RoutePolicy policy_;
  std::uint64_t state_;
};

}  // namespace tutti
