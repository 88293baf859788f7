#include "sim/symmetry.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "core/workers.hpp"
#include "sim/turned_program.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t none = Symmetry::none;

/// Beyond these sizes the search for a symmetry costs more than it saves.
constexpr std::uint64_t most_routes = 1U << 22;
constexpr std::uint64_t most_chunks = 1U << 24;

bool is_even(const Layout& layout) {
  const std::uint64_t chunks = layout.chunks();
  if (chunks == 0 || chunks > most_chunks) return false;
  const std::uint64_t size = layout.total() / chunks;
  for (std::uint64_t i = 0; i < chunks; ++i) {
    if (layout.offset(Chunk{i + 1}) != (i + 1) * size) return false;
  }
  return true;
}

/// Some of the ranks from 1 on; those that most likely differ come first.
std::vector<std::uint32_t> some_ranks(std::uint32_t p) {
  std::set<std::uint32_t> ranks{p - 1, p / 2, p / 3};
  for (std::uint32_t r = 1; r < p; r *= 2) ranks.insert({r, p - r});
  ranks.erase(0);
  return {ranks.begin(), ranks.end()};
}

std::vector<std::uint32_t> all_ranks(std::uint32_t p) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 1; r < p; ++r) ranks.push_back(r);
  return ranks;
}

std::vector<std::uint32_t> distances(const Program& of_rank_0) {
  std::set<std::uint32_t> found;
  for (const Step step : of_rank_0) {
    if (step.kind != Step::Kind::send) continue;
    for (const Rank peer : step.peers) found.insert(peer.index());
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

bool programs_turn(const ScheduleSource& source, bool sample) {
  // For fewer steps threads would cost more than they save.
  constexpr std::size_t many_steps = 1U << 17;
  const std::uint32_t p = source.contract.ranks;
  const Program first = source.program(Rank{0});
  const std::vector<std::uint32_t> ranks = sample ? some_ranks(p) : all_ranks(p);
  std::atomic<bool> all_turn = true;
  const auto compare = [&](std::size_t i) {
    if (!all_turn) return;
    TurnedProgram turned(first, source.contract);
    if (!turned.equals(source.program(Rank{ranks[i]}), ranks[i])) all_turn = false;
  };
  if (ranks.size() * first.size() >= many_steps) {
    in_parallel(ranks.size(), compare);
  } else {
    for (std::size_t i = 0; i < ranks.size(); ++i) compare(i);
  }
  return all_turn;
}

std::optional<Symmetry> find_symmetry(const ScheduleSource& source, const Layout& layout,
                                      const Network& network, RouteTable& routes,
                                      RouteTable& into) {
  const std::uint32_t p = source.contract.ranks;
  const std::vector<std::uint32_t> used = distances(source.program(Rank{0}));
  if (p < 2 || used.empty() || std::uint64_t{p} * used.size() > most_routes) return {};
  if (!is_even(layout) || !programs_turn(source, source.one_rule)) return {};

  Turn turn(network);
  std::vector<std::uint32_t> from_rank_0;
  for (const std::uint32_t d : used) {
    from_rank_0.push_back(routes.add(Rank{0}, Rank{d}));
    std::uint32_t before = from_rank_0.back();
    for (std::uint32_t r = 1; r <= p; ++r) {
      const std::uint32_t now =
          r == p ? from_rank_0.back() : routes.add(Rank{r}, Rank{(r + d) % p});
      const auto a = routes.crossings(before);
      const auto b = routes.crossings(now);
      if (a.size() != b.size()) return {};
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (!turn.maps(a[i].link, b[i].link)) return {};
      }
      before = now;
    }
  }
  Symmetry symmetry;
  const std::vector<std::uint32_t> sizes = classify(network, turn, symmetry);
  symmetry.route_by_distance.assign(p, 0);
  for (std::size_t i = 0; i < used.size(); ++i) {
    symmetry.route_by_distance[used[i]] =
        into.add(crossings_of_all(routes.crossings(from_rank_0[i]), p, symmetry, sizes),
                 routes.latency(from_rank_0[i]));
  }
  return symmetry;
}

}  // namespace tutti
