#include "sim/symmetry.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>
#include <variant>

#include "core/workers.hpp"
#include "sim/turned_program.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t none = Symmetry::none;

/// Beyond these sizes the search for a symmetry costs more than it saves.
constexpr std::uint64_t most_routes = 1U << 25;
constexpr std::uint64_t most_compared_chunks = 1U << 24;

bool is_even(const Layout& layout) {
  const std::uint64_t chunks = layout.chunks();
  if (chunks == 0 || chunks > most_compared_chunks) return false;
  const std::uint64_t size = layout.total() / chunks;
  for (std::uint64_t i = 0; i < chunks; ++i) {
    if (layout.offset(Chunk{i + 1}) != (i + 1) * size) return false;
  }
  return true;
}

/// Some of the numbers from 1 to p−1; those that most likely differ come first.
std::vector<std::uint32_t> some_below(std::uint32_t p) {
  std::set<std::uint32_t> numbers{p - 1, p / 2, p / 3};
  for (std::uint32_t r = 1; r < p; r *= 2) numbers.insert({r, p - r});
  numbers.erase(0);
  return {numbers.begin(), numbers.end()};
}

std::vector<std::uint32_t> all_below(std::uint32_t p) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t r = 1; r < p; ++r) numbers.push_back(r);
  return numbers;
}

std::vector<std::uint32_t> receivers_of(const Program& program) {
  std::set<std::uint32_t> found;
  for (const Step step : program) {
    if (step.kind != Step::Kind::send) continue;
    for (const Rank peer : step.peers) found.insert(peer);
  }
  return {found.begin(), found.end()};
}

/// The mapping of links when every rank is replaced by the next one.
class Turn {
 public:
  explicit Turn(const Network& network)
      : network_(network), next_(network.links.size(), none), taken_(network.links.size(), false) {}

  /// Maps `from` to `to`. False if the mapping is then not one-to-one, or the two links differ in
  /// bandwidth or latency.
  bool maps(std::uint32_t from, std::uint32_t to) {
    if (next_[from] != none) return next_[from] == to;
    if (taken_[to]) return false;
    taken_[to] = true;
    next_[from] = to;
    const Link& a = network_.links[from];
    const Link& b = network_.links[to];
    return a.bytes_per_second == b.bytes_per_second && a.latency == b.latency;
  }

  [[nodiscard]] std::uint32_t next(std::uint32_t link) const { return next_[link]; }

 private:
  const Network& network_;
  std::vector<std::uint32_t> next_;
  std::vector<bool> taken_;
};

/// Puts the links that are mapped onto each other into one class. Returns the size of each class.
std::vector<std::uint32_t> classify(const Network& network, const Turn& turn, Symmetry& symmetry) {
  std::vector<std::uint32_t> sizes;
  symmetry.class_of.assign(network.links.size(), none);
  for (std::uint32_t first = 0; first < network.links.size(); ++first) {
    if (turn.next(first) == none || symmetry.class_of[first] != none) continue;
    symmetry.capacities.push_back(network.links[first].bytes_per_second);
    sizes.push_back(0);
    for (std::uint32_t link = first; symmetry.class_of[link] == none; link = turn.next(link)) {
      symmetry.class_of[link] = static_cast<std::uint32_t>(sizes.size() - 1);
      ++sizes.back();
    }
  }
  return sizes;
}

/// The route of one flow that stands for p flows: it crosses a class as often as the p flows cross
/// each of its links.
std::vector<Crossing> crossings_of_all(std::span<const Crossing> route, std::uint32_t p,
                                       const Symmetry& symmetry,
                                       std::span<const std::uint32_t> sizes) {
  std::vector<Crossing> merged;
  for (const Crossing& each : route) {
    const std::uint32_t of_class = symmetry.class_of[each.link];
    const auto known = std::find_if(merged.begin(), merged.end(),
                                    [&](const Crossing& c) { return c.link == of_class; });
    if (known != merged.end()) {
      ++known->times;
    } else {
      merged.push_back({.link = of_class, .times = 1});
    }
  }
  for (Crossing& each : merged) each.times = each.times * p / sizes[each.link];
  return merged;
}

}  // namespace

bool programs_turn(const ScheduleSource& source, bool sample, std::uint32_t step, bool in_order) {
  // For fewer steps threads would cost more than they save.
  constexpr std::size_t many_steps = 1U << 17;
  const std::uint32_t shifts = source.contract.ranks / step;
  std::vector<std::uint32_t> first{0};
  const auto others = sample ? some_below(step) : all_below(step);
  first.insert(first.end(), others.begin(), others.end());
  const auto by = sample ? some_below(shifts) : all_below(shifts);
  std::atomic<bool> all_turn = true;
  for (const std::uint32_t rank : first) {
    const Program program = source.program(rank);
    const auto compare = [&](std::size_t i) {
      if (!all_turn) return;
      const std::uint32_t shift = by[i] * step;
      TurnedProgram turned(program, source.contract, in_order);
      if (!turned.equals(source.program(rank + shift), shift)) all_turn = false;
    };
    if (by.size() * program.size() >= many_steps) {
      in_parallel(by.size(), compare);
    } else {
      for (std::size_t i = 0; i < by.size(); ++i) compare(i);
    }
    if (!all_turn) return false;
  }
  return true;
}

namespace {

/// Follows the routes of the first `step` ranks round the network.
class SymmetrySearch {
 public:
  SymmetrySearch(const ScheduleSource& source, const Network& network, RouteTable& routes,
                 std::uint32_t step)
      : source_(source), network_(network), routes_(routes), turn_(network), step_(step) {}

  /// False if the routes are not mapped onto each other.
  bool turns() {
    const std::uint32_t p = source_.contract.ranks;
    const bool known = is_translation() && maps_neighbours();
    for (std::uint32_t from = 0; from < step_; ++from) {
      const auto receivers = receivers_of(source_.program(from));
      const std::uint64_t copies = p / step_;
      if (!known && copies * (hops_.size() + receivers.size()) > most_routes) return false;
      for (const std::uint32_t to : receivers) {
        hops_.push_back({.from = from, .to = to, .route = routes_.add(from, to)});
        if (!known && !turns(hops_.back())) return false;
      }
    }
    return !hops_.empty();
  }

  [[nodiscard]] Symmetry symmetry(RouteTable& into) const {
    Symmetry symmetry{.step = step_, .capacities = {}, .class_of = {}, .routes = {}};
    const std::vector<std::uint32_t> sizes = classify(network_, turn_, symmetry);
    const std::uint32_t copies = source_.contract.ranks / step_;
    for (const Hop& hop : hops_) {
      symmetry.routes[(std::uint64_t{hop.from} << 32) | hop.to] =
          into.add(crossings_of_all(routes_.crossings(hop.route), copies, symmetry, sizes),
                   routes_.latency(hop.route), hop.from, hop.to % step_);
    }
    return symmetry;
  }

 private:
  struct Hop {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t route;
  };

  bool turns(const Hop& hop) {
    const std::uint32_t p = source_.contract.ranks;
    routes_.compute(hop.from, hop.to, before_);
    for (std::uint32_t by = step_; by <= p; by += step_) {
      routes_.compute((hop.from + by) % p, (hop.to + by) % p, now_);
      if (before_.size() != now_.size()) return false;
      for (std::size_t i = 0; i < now_.size(); ++i) {
        if (!turn_.maps(before_[i].index(), now_[i].index())) return false;
      }
      std::swap(before_, now_);
    }
    return true;
  }

  /// True if the step is a translation of a torus along its last dimension that maps routes to
  /// routes. At half the length of the dimension, even and odd places take different ways round.
  [[nodiscard]] bool is_translation() const {
    const auto* const torus = std::get_if<wiring::Torus>(&network_.wiring);
    if (torus == nullptr || !torus->wraps || !network_.own_routes.empty()) return false;
    const std::uint32_t p = source_.contract.ranks;
    if (!routes_.is_in_order() || p != network_.rank_count()) return false;
    const std::uint32_t last = torus->dimensions.back();
    const std::uint32_t row = p / last;
    return step_ % (last % 2 == 0 ? 2 * row : row) == 0;
  }

  /// Maps the links to the neighbours of each rank, which are all links of a torus.
  bool maps_neighbours() {
    const auto& dimensions = std::get<wiring::Torus>(network_.wiring).dimensions;
    const std::uint32_t p = source_.contract.ranks;
    for (std::uint32_t rank = 0; rank < p; ++rank) {
      std::uint32_t stride = 1;
      for (const std::uint32_t side : dimensions) {
        const std::uint32_t at = rank / stride % side;
        for (const std::uint32_t to : {(at + 1) % side, (at + side - 1) % side}) {
          if (to == at) continue;
          const std::uint32_t neighbour = rank - at * stride + to * stride;
          routes_.compute(rank, neighbour, before_);
          routes_.compute((rank + step_) % p, (neighbour + step_) % p, now_);
          if (before_.size() != 1 || now_.size() != 1) return false;
          if (!turn_.maps(before_[0].index(), now_[0].index())) return false;
        }
        stride *= side;
      }
    }
    return true;
  }

  const ScheduleSource& source_;
  const Network& network_;
  RouteTable& routes_;
  Turn turn_;
  std::uint32_t step_;
  std::vector<Hop> hops_;
  std::vector<LinkId> before_;
  std::vector<LinkId> now_;
};

/// Whether there are so many messages that a search for a step above 1 pays.
bool has_many_messages(const ScheduleSource& source, const Program& first) {
  constexpr std::uint64_t many = 20'000;
  std::uint64_t peers = 0;
  for (const Step step : first) peers += step.peers.size();
  return source.contract.ranks * peers > many;
}

}  // namespace

std::optional<Symmetry> find_symmetry(const ScheduleSource& source, const Layout& layout,
                                      const Network& network, RouteTable& routes, RouteTable& into,
                                      bool in_order) {
  const std::uint32_t p = source.contract.ranks;
  if (p < 2 || !is_even(layout)) return {};
  const Program first = source.program(Rank{0});
  if (first.size() == 0) return {};
  const bool all_turn = programs_turn(source, source.one_rule, 1, in_order);
  const std::uint32_t most = has_many_messages(source, first) ? p / 2 : 1;
  for (std::uint32_t step = 1; step <= most; ++step) {
    if (p % step != 0) continue;
    if (!all_turn && (step == 1 || !programs_turn(source, source.one_rule, step, in_order)))
      continue;
    routes.clear();
    SymmetrySearch search(source, network, routes, step);
    if (search.turns()) return search.symmetry(into);
  }
  return {};
}

}  // namespace tutti
