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

/// The routes that a simulation uses, each kept once.
class RouteTable {
 public:
  /// `places[r]` is where rank r stands in the network; empty: rank r is the network's rank r.
  /// Requires: all three outlive the table.
  RouteTable(const Network& network, Routes& routes, std::span<const Rank> places)
      : network_(network), routes_(routes), places_(places), users_(network.links.size()) {}

  /// Works out a route and returns its number.
  std::uint32_t add(Rank from, Rank to);
  /// Keeps a route made elsewhere, for one rank that stands for all.
  std::uint32_t add(std::span<const Crossing> crossings, double latency);

  [[nodiscard]] std::span<const Crossing> crossings(std::uint32_t route) const {
    const std::size_t begin = route == 0 ? 0 : ends_[route - 1];
    return {crossings_.data() + begin, ends_[route] - begin};
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  /// Whether all that crosses a link of the route comes from one rank, or goes to one rank: ranks
  /// with one message at a time each way then never meet anybody on it.
  [[nodiscard]] bool is_lonely(std::uint32_t route) const;
  /// The latencies of its links together.
  [[nodiscard]] double latency(std::uint32_t route) const { return latencies_[route]; }

 private:
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t several = nobody - 1;

  /// Who sends and who receives over a link.
  struct Users {
    std::uint32_t sender = nobody;
    std::uint32_t receiver = nobody;
    std::uint32_t route = nobody;  // The last that was added.
  };

  void use(std::uint32_t link, std::uint32_t from, std::uint32_t to);
  [[nodiscard]] Rank place(Rank rank) const {
    return places_.empty() ? rank : places_[rank.index()];
  }

  const Network& network_;
  Routes& routes_;
  std::span<const Rank> places_;
  std::vector<Users> users_;   // By link.
  std::vector<LinkId> links_;  // Of the route being added.
  std::vector<Crossing> crossings_;
  std::vector<std::size_t> ends_;
  std::vector<double> latencies_;
};

}  // namespace tutti
