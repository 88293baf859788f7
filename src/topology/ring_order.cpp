#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

#include <tutti/error.hpp>
#include <tutti/network/ring_order.hpp>

#include "topology/ring_load.hpp"
#include "topology/ring_search.hpp"

namespace tutti {
namespace {

using Ring = std::vector<std::uint32_t>;

/// All 8! orders are searched in milliseconds.
constexpr std::uint32_t most_exact = 9;

/// The function to minimise: on a network, or from measured times alone.
class Objective {
 public:
  explicit Objective(const PairTimes& times) : times_(times) {}
  Objective(const PairTimes& times, const Network& network, Routes& routes, std::uint64_t bytes)
      : times_(times), network_(&network), routes_(&routes), bytes_(bytes) {}

  [[nodiscard]] std::uint32_t ranks() const { return times_.ranks(); }
  [[nodiscard]] double time(std::uint32_t from, std::uint32_t to) const { return times_(from, to); }
  /// Null if links are not known.
  [[nodiscard]] std::unique_ptr<RingLoad> load() const {
    return network_ == nullptr ? nullptr : std::make_unique<RingLoad>(*network_, *routes_, bytes_);
  }

  [[nodiscard]] RingCost cost(const Ring& ring) const {
    RingCost cost;
    const std::unique_ptr<RingLoad> loads = load();
    for (std::size_t i = 0; ring.size() > 1 && i < ring.size(); ++i) {
      const std::uint32_t from = ring[i];
      const std::uint32_t to = ring[(i + 1) % ring.size()];
      cost.slowest = std::max(cost.slowest, time(from, to));
      cost.sum += time(from, to);
      if (loads) loads->add(from, to);
    }
    if (loads && ring.size() > 1) cost.contention = loads->seconds(loads->busiest());
    return cost;
  }

  [[nodiscard]] std::vector<double> all_times() const {
    std::vector<double> all;
    for (std::uint32_t from = 0; from < ranks(); ++from) {
      for (std::uint32_t to = 0; to < ranks(); ++to) all.push_back(time(from, to));
    }
    return all;
  }

  /// The weights that lead a search to few shared links: the seconds for which a message keeps
  /// links busy, summed over all links.
  [[nodiscard]] std::vector<double> all_weights() const {
    if (network_ == nullptr) return all_times();
    std::vector<double> all;
    std::vector<LinkId> path;
    for (std::uint32_t from = 0; from < ranks(); ++from) {
      for (std::uint32_t to = 0; to < ranks(); ++to) {
        path.clear();
        routes_->append(from, to, path);
        double weight = 0;
        for (const LinkId link : path) {
          const Link& each = (*network_)[link];
          weight += each.latency +
                    static_cast<double>(std::max<std::uint64_t>(bytes_, 1)) / each.bytes_per_second;
        }
        all.push_back(weight);
      }
    }
    return all;
  }

 private:
  const PairTimes& times_;
  const Network* network_ = nullptr;
  Routes* routes_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// The best ring so far.
struct Best {
  Ring ring{};
  RingCost cost{};

  /// Takes a ring if it costs less. Rotates it so that rank 0 is first.
  bool consider(const Objective& objective, Ring other) {
    std::rotate(other.begin(), std::find(other.begin(), other.end(), 0U), other.end());
    const RingCost other_cost = objective.cost(other);
    if (!(other_cost < cost)) return false;
    ring = std::move(other);
    cost = other_cost;
    return true;
  }
};

/// Branch and bound: prunes every order whose prefix already costs as much as the best ring. This
/// is correct because each of the three costs only grows as edges are added.
class ExactSearch {
 public:
  ExactSearch(const Objective& objective, Best& best)
      : objective_(objective), best_(best), load_(objective.load()), ring_(best.ring) {}

  void run() { extend(1, {}); }

 private:
  [[nodiscard]] RingCost with_edge(RingCost cost, std::uint32_t from, std::uint32_t to) const {
    cost.slowest = std::max(cost.slowest, objective_.time(from, to));
    cost.sum += objective_.time(from, to);
    if (load_) cost.contention = std::max(cost.contention, load_->busiest_of(from, to));
    return cost;
  }

  void extend(std::size_t length, const RingCost& cost) {
    const std::uint32_t from = ring_[length - 1];
    if (length == ring_.size()) {
      if (load_) load_->add(from, ring_[0]);
      const RingCost whole = with_edge(cost, from, ring_[0]);
      if (whole < best_.cost) best_ = {.ring = ring_, .cost = whole};
      if (load_) load_->remove(from, ring_[0]);
      return;
    }
    for (std::size_t i = length; i < ring_.size(); ++i) {
      std::swap(ring_[length], ring_[i]);
      const std::uint32_t to = ring_[length];
      if (load_) load_->add(from, to);
      const RingCost longer = with_edge(cost, from, to);
      if (longer < best_.cost) extend(length + 1, longer);
      if (load_) load_->remove(from, to);
      std::swap(ring_[length], ring_[i]);
    }
  }

  const Objective& objective_;
  Best& best_;
  std::unique_ptr<RingLoad> load_;
  Ring ring_;
};

/// Moves ranks away from edges that cross the busiest link, as long as that makes the link less
/// busy and no edge slower than the slowest.
class ContentionRelief {
 public:
  ContentionRelief(const Objective& objective, RingLoad& load, const Best& best)
      : objective_(objective), load_(load), slowest_(best.cost.slowest), ring_(best.ring) {
    for (std::size_t i = 0; i < ring_.size(); ++i) load_.add(at(i), at(i + 1));
  }

  [[nodiscard]] Ring run() {
    constexpr std::uint32_t most_tries = 60'000;
    aim_at_busiest();
    for (std::uint32_t i = 0; i < most_tries && !crossing_.empty(); ++i) {
      if (!try_move()) continue;
      load_.excess() <= 0 ? aim_at_busiest() : find_crossing();
    }
    return ring_;
  }

 private:
  [[nodiscard]] std::uint32_t at(std::size_t place) const { return ring_[place % ring_.size()]; }

  void aim_at_busiest() {
    busiest_ = load_.busiest();
    constexpr double a_little_less = 1 - 1e-9;
    load_.set_limit(load_.seconds(busiest_) * a_little_less);
    find_crossing();
  }

  /// A single edge on the busiest link is no contention.
  void find_crossing() {
    crossing_.clear();
    for (std::size_t i = 0; i < ring_.size(); ++i) {
      if (load_.crosses(at(i), at(i + 1), busiest_)) crossing_.push_back(i);
    }
    if (crossing_.size() == 1) crossing_.clear();
  }

  bool try_move() {
    const std::size_t p = ring_.size();
    const std::size_t length = 1 + random_() % std::min<std::size_t>(8, p - 3);
    const std::size_t edge = crossing_[random_() % crossing_.size()];
    // The segment that begins after the edge, or the one that ends before it.
    const std::size_t first = random_() % 2 == 0 ? edge + 1 : edge + 1 + p - length;
    const std::size_t target = first + length + random_() % (p - length - 1);
    const std::uint32_t before = at(first + p - 1);
    const std::uint32_t head = at(first);
    const std::uint32_t tail = at(first + length - 1);
    const std::uint32_t behind = at(first + length);
    const std::uint32_t left = at(target);
    const std::uint32_t right = at(target + 1);
    const bool too_slow = objective_.time(before, behind) > slowest_ ||
                          objective_.time(left, head) > slowest_ ||
                          objective_.time(tail, right) > slowest_;
    if (too_slow) return false;
    const double excess = load_.excess();
    const std::array<std::pair<std::uint32_t, std::uint32_t>, 3> old{
        {{before, head}, {tail, behind}, {left, right}}};
    const std::array<std::pair<std::uint32_t, std::uint32_t>, 3> fresh{
        {{before, behind}, {left, head}, {tail, right}}};
    for (const auto& [from, to] : old) load_.remove(from, to);
    for (const auto& [from, to] : fresh) load_.add(from, to);
    constexpr double enough = 1 - 1e-9;
    if (load_.excess() < excess * enough) {
      move(first, length, target);
      return true;
    }
    for (const auto& [from, to] : fresh) load_.remove(from, to);
    for (const auto& [from, to] : old) load_.add(from, to);
    return false;
  }

  void move(std::size_t first, std::size_t length, std::size_t target) {
    Ring moved;
    const std::size_t p = ring_.size();
    for (std::size_t i = first + length; i < first + p; ++i) {
      moved.push_back(at(i));
      if (i != target) continue;
      for (std::size_t j = 0; j < length; ++j) moved.push_back(at(first + j));
    }
    ring_ = std::move(moved);
  }

  const Objective& objective_;
  RingLoad& load_;
  double slowest_;
  Ring ring_;
  LinkId busiest_;
  std::vector<std::size_t> crossing_;  // Positions of the edges over the busiest link.
  std::mt19937_64 random_{1};
};

/// Bisects the limit for the slowest edge as long as rings within it are found.
void lower_slowest(const Objective& objective, std::span<const double> times, RingSearch& search,
                   std::uint32_t perturbations, Best& best) {
  const std::uint32_t p = objective.ranks();
  // Lower bound: every rank has an edge in and an edge out.
  double least = 0;
  for (std::uint32_t a = 0; a < p; ++a) {
    double in = std::numeric_limits<double>::infinity();
    double out = in;
    for (std::uint32_t b = 0; b < p; ++b) {
      if (a == b) continue;
      in = std::min(in, objective.time(b, a));
      out = std::min(out, objective.time(a, b));
    }
    least = std::max({least, in, out});
  }
  std::vector<double> limits;
  for (const double time : times) {
    if (time >= least && time < best.cost.slowest) limits.push_back(time);
  }
  std::sort(limits.begin(), limits.end());
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  std::size_t low = 0;
  std::size_t high = limits.size();
  constexpr int most_tries = 12;
  for (int i = 0; i < most_tries && low < high; ++i) {
    const std::size_t middle = low + (high - low) / 2;
    search.set_limit(limits[middle]);
    search.set_ring(best.ring);
    search.improve(perturbations, true);
    if (search.over_limit() > 0) {
      low = middle + 1;
    } else {
      best.consider(objective, search.ring());
      const auto reached = std::lower_bound(limits.begin(), limits.end(), best.cost.slowest);
      high = std::min(middle, static_cast<std::size_t>(reached - limits.begin()));
    }
  }
}

void search_locally(const Objective& objective, Best& best) {
  const std::uint32_t p = objective.ranks();
  // Small rings converge soon; in large rings each perturbation takes longer.
  const std::uint32_t perturbations = std::min(20 * p, 1'500'000 / p);
  const std::vector<double> times = objective.all_times();
  const std::vector<double> weights = objective.all_weights();
  RingSearch search(p, times, weights);
  search.set_ring(best.ring);
  search.improve(perturbations, false);
  best.consider(objective, search.ring());
  search.set_greedy_ring();
  search.improve(perturbations, false);
  best.consider(objective, search.ring());
  lower_slowest(objective, times, search, perturbations / 2, best);
  search.set_limit(best.cost.slowest);
  search.set_ring(best.ring);
  search.improve(perturbations, false);
  best.consider(objective, search.ring());
  if (const std::unique_ptr<RingLoad> load = objective.load()) {
    best.consider(objective, ContentionRelief(objective, *load, best).run());
    RingSearch by_time(p, times, times);
    by_time.set_limit(best.cost.slowest);
    by_time.set_ring(best.ring);
    by_time.improve(0, false);
    best.consider(objective, by_time.ring());
  }
}

Ring checked(std::span<const Rank> order, std::uint32_t ranks) {
  Ring ring;
  std::vector<bool> seen(ranks);
  for (const Rank rank : order) {
    if (rank >= ranks || seen[rank]) {
      throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) +
                                                   " is twice in the order, or is not one of the " +
                                                   std::to_string(ranks) + " ranks");
    }
    seen[rank] = true;
    ring.push_back(rank);
  }
  if (ring.size() != ranks) {
    throw Error(ErrorCode::invalid_argument, "the order has " + std::to_string(ring.size()) +
                                                 " of " + std::to_string(ranks) + " ranks");
  }
  return ring;
}

RingOrder order(const Objective& objective) {
  Ring given(objective.ranks());
  std::iota(given.begin(), given.end(), 0);
  Best best{.ring = given, .cost = objective.cost(given)};
  const RingCost given_cost = best.cost;
  const bool exact = objective.ranks() <= most_exact;
  if (exact) {
    if (objective.ranks() > 1) ExactSearch(objective, best).run();
  } else {
    search_locally(objective, best);
  }
  RingOrder order{.ranks = {}, .cost = best.cost, .given = given_cost, .exact = exact};
  for (const std::uint32_t rank : best.ring) order.ranks.emplace_back(rank);
  return order;
}

}  // namespace

RingOrder order_ring(const PairTimes& times) { return order(Objective(times)); }

RingOrder order_ring(const Network& network, Routes& routes, std::uint64_t bytes) {
  const PairTimes times = pair_times(network, routes, bytes);
  return order(Objective(times, network, routes, bytes));
}

RingCost ring_cost(const PairTimes& times, std::span<const Rank> order) {
  return Objective(times).cost(checked(order, times.ranks()));
}

RingCost ring_cost(const Network& network, Routes& routes, std::uint64_t bytes,
                   std::span<const Rank> order) {
  const PairTimes times = pair_times(network, routes, bytes);
  return Objective(times, network, routes, bytes).cost(checked(order, network.rank_count()));
}

}  // namespace tutti
