#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/network.hpp>
#include <tutti/rank.hpp>
#include <tutti/routes.hpp>

#include "sim/fair_shares.hpp"

namespace tutti {

/// The routes that a simulation uses, each kept once.
class RouteTable {
 public:
  /// `places[r]` is where rank r stands in the network; empty: rank r is the network's rank r.
  /// Requires: all three outlive the table.
  RouteTable(const Network& network, Routes& routes, std::span<const Rank> places)
      : network_(network), routes_(routes), places_(places) {}

  /// Works out a route and returns its number.
  std::uint32_t add(Rank from, Rank to);
  /// Keeps a route made elsewhere.
  std::uint32_t add(std::span<const Crossing> crossings, double latency);

  [[nodiscard]] std::span<const Crossing> crossings(std::uint32_t route) const {
    const std::size_t begin = route == 0 ? 0 : ends_[route - 1];
    return {crossings_.data() + begin, ends_[route] - begin};
  }
  /// The latencies of its links together.
  [[nodiscard]] double latency(std::uint32_t route) const { return latencies_[route]; }

 private:
  [[nodiscard]] Rank place(Rank rank) const {
    return places_.empty() ? rank : places_[rank.index()];
  }

  const Network& network_;
  Routes& routes_;
  std::span<const Rank> places_;
  std::vector<LinkId> links_;  // Of the route being added.
  std::vector<Crossing> crossings_;
  std::vector<std::size_t> ends_;
  std::vector<double> latencies_;
};

}  // namespace tutti
