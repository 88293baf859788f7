#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/rank.hpp>

#include "sim/fair_shares.hpp"

namespace tutti {

/// The routes that a simulation uses, each stored once.
class RouteTable {
 public:
  /// `places[r]` is the rank of the network on which rank r runs; empty: rank r.
  /// Requires: all three outlive the table.
  RouteTable(const Network& network, Routes& routes, std::span<const Rank> places)
      : network_(network), routes_(routes), places_(places), users_(network.links.size()) {}

  /// Computes a route without storing it.
  void compute(Rank from, Rank to, std::vector<LinkId>& links) const;
  /// True if rank r runs on rank r of the network, and routes follow the dimensions of a torus.
  [[nodiscard]] bool is_in_order() const {
    return places_.empty() && routes_.policy() == RoutePolicy::dimension_order;
  }
  /// Computes a route and returns its index.
  std::uint32_t add(Rank from, Rank to);
  /// Stores a route computed elsewhere, for ranks that stand for all.
  std::uint32_t add(std::span<const Crossing> crossings, double latency, std::uint32_t from,
                    std::uint32_t to);
  void clear();

  [[nodiscard]] std::span<const Crossing> crossings(std::uint32_t route) const {
    const std::size_t begin = route == 0 ? 0 : ends_[route - 1];
    return {crossings_.data() + begin, ends_[route] - begin};
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  /// True if each link of the route is used by one sender only, or by one receiver only. With one
  /// port per rank, no two messages then share a link of the route.
  [[nodiscard]] bool is_lonely(std::uint32_t route) const;
  /// The sum of the latencies of its links.
  [[nodiscard]] double latency(std::uint32_t route) const { return latencies_[route]; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t several = none - 1;

  /// The sender and the receiver that use a link.
  struct Users {
    std::uint32_t sender = none;
    std::uint32_t receiver = none;
    std::uint32_t route = none;  // The last route added that crosses it.
  };

  void use(std::uint32_t link, std::uint32_t from, std::uint32_t to);
  [[nodiscard]] Rank place(Rank rank) const { return places_.empty() ? rank : places_[rank]; }

  const Network& network_;
  Routes& routes_;
  std::span<const Rank> places_;
  std::vector<Users> users_;   // Indexed by link.
  std::vector<LinkId> links_;  // Links of the route being added.
  std::vector<Crossing> crossings_;
  std::vector<std::size_t> ends_;
  std::vector<double> latencies_;
};

}  // namespace tutti
