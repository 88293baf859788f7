#include "synthesis/exhaustive.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "core/hash.hpp"

namespace tutti::synthesis {
namespace {

/// For each rank, a bit for each chunk that it has.
using State = std::vector<std::uint64_t>;

struct StateHash {
  std::size_t operator()(const State& state) const {
    std::uint64_t hash = 0;
    for (const std::uint64_t each : state) hash = mixed(hash, each);
    return static_cast<std::size_t>(hash);
  }
};

class RoundSearch {
 public:
  RoundSearch(const RankGraph& graph, const FewestRounds& task, const Pace& pace)
      : n_(graph.ranks), pace_(pace), in_(n_), hops_(std::size_t{n_} * n_, far) {
    double slowest = std::numeric_limits<double>::infinity();
    for (const RankEdge& edge : graph.edges) slowest = std::min(slowest, edge.bytes_per_second);
    double latency = 0;
    for (const RankEdge& edge : graph.edges) {
      const auto width = static_cast<std::uint32_t>(edge.bytes_per_second / slowest + 1e-9);
      in_[edge.to].push_back({edge.from, width});
      hops_[std::size_t{edge.from} * n_ + edge.to] = 1;
      latency = std::max(latency, edge.latency);
    }
    find_hops();
    all_ = task.chunks * task.origins.size() == 64
               ? ~std::uint64_t{0}
               : (std::uint64_t{1} << task.chunks * task.origins.size()) - 1;
    begin_.assign(n_, 0);
    for (std::size_t o = 0; o < task.origins.size(); ++o) {
      for (std::uint32_t c = 0; c < task.chunks; ++c) {
        begin_[task.origins[o]] |= std::uint64_t{1} << (o * task.chunks + c);
      }
    }
    round_seconds_ = latency + task.bytes / task.chunks / slowest;
  }

  [[nodiscard]] std::optional<Distribution> run(const FewestRounds& task) {
    for (std::uint32_t rounds = 1;; ++rounds) {
      seen_.assign(rounds + 1, {});
      moves_.clear();
      State state = begin_;
      if (reach(state, rounds)) return distribution(task, rounds);
      if (pace_.is_over()) return {};
    }
  }

 private:
  static constexpr std::uint32_t far = 1 << 20;

  struct Source {
    std::uint32_t rank;
    std::uint32_t width;
  };
  struct Move {
    std::uint32_t round, from, to, chunk;
  };

  void find_hops() {
    for (std::uint32_t r = 0; r < n_; ++r) hops_[std::size_t{r} * n_ + r] = 0;
    for (std::uint32_t k = 0; k < n_; ++k) {
      for (std::uint32_t a = 0; a < n_; ++a) {
        for (std::uint32_t b = 0; b < n_; ++b) {
          std::uint32_t& best = hops_[std::size_t{a} * n_ + b];
          best = std::min(best, hops_[std::size_t{a} * n_ + k] + hops_[std::size_t{k} * n_ + b]);
        }
      }
    }
  }

  /// True if `left` rounds might be enough: no rank lacks more than it can receive, or something
  /// that is too far away.
  [[nodiscard]] bool is_possible(const State& state, std::uint32_t left) const {
    for (std::uint32_t v = 0; v < n_; ++v) {
      const std::uint64_t missing = all_ & ~state[v];
      std::uint32_t width = 0;
      for (const Source& each : in_[v]) width += each.width;
      if (static_cast<std::uint32_t>(std::popcount(missing)) > left * width) return false;
      std::uint64_t near = 0;
      for (std::uint32_t u = 0; u < n_; ++u) {
        if (hops_[std::size_t{u} * n_ + v] <= left) near |= state[u];
      }
      if ((missing & ~near) != 0) return false;
    }
    return true;
  }

  bool reach(State& state, std::uint32_t left) {
    if (std::all_of(state.begin(), state.end(), [&](auto each) { return each == all_; })) {
      return true;
    }
    if (left == 0 || !is_possible(state, left) || pace_.is_over()) return false;
    if (!seen_[left].insert(state).second) return false;
    pace_.report(0);
    State next = state;
    return choose(state, next, 0, left);
  }

  /// Chooses what rank v receives in this round, then the ranks after it.
  bool choose(const State& state, State& next, std::uint32_t v, std::uint32_t left) {
    if (v == n_) return reach(next, left - 1);
    const std::uint64_t before = next[v];
    const std::size_t moves = moves_.size();
    const bool found = fill(state, next, v, 0, 0, ~std::uint64_t{0}, left);
    next[v] = before;
    if (!found) moves_.resize(moves);
    return found;
  }

  /// Gives the edge number `edge` into v one more of the `allowed` chunks, then the edges after it.
  /// An edge takes its chunks in ascending order, so that no set is tried twice, and as many as it
  /// can carry.
  bool fill(const State& state, State& next, std::uint32_t v, std::size_t edge,
            std::uint32_t carried, std::uint64_t allowed, std::uint32_t left) {
    if (pace_.is_over()) return false;
    if (edge == in_[v].size()) return choose(state, next, v + 1, left);
    const Source& source = in_[v][edge];
    const std::uint64_t options = state[source.rank] & ~next[v];
    if (carried == source.width || options == 0) {
      return fill(state, next, v, edge + 1, 0, ~std::uint64_t{0}, left);
    }
    for (std::uint64_t bits = options & allowed; bits != 0; bits &= bits - 1) {
      const std::uint64_t bit = bits & (~bits + 1);
      next[v] |= bit;
      moves_.push_back({left, source.rank, v, static_cast<std::uint32_t>(std::countr_zero(bit))});
      if (fill(state, next, v, edge, carried + 1, ~(bit | (bit - 1)), left)) return true;
      moves_.pop_back();
      next[v] &= ~bit;
    }
    return false;
  }

  [[nodiscard]] Distribution distribution(const FewestRounds& task, std::uint32_t rounds) const {
    Distribution found{.rounds = rounds, .chunks = task.chunks};
    for (const Move& each : moves_) {
      found.transfers.push_back(
          {.round = rounds - each.round, .from = each.from, .to = each.to, .chunk = each.chunk});
    }
    found.seconds = rounds * round_seconds_;
    return found;
  }

  std::uint32_t n_;
  const Pace& pace_;
  std::vector<std::vector<Source>> in_;
  std::vector<std::uint32_t> hops_;
  std::uint64_t all_ = 0;
  State begin_;
  double round_seconds_ = 0;
  std::vector<std::unordered_set<State, StateHash>> seen_;  // By rounds left.
  std::vector<Move> moves_;                                 // Those of the present path.
};

}  // namespace

std::optional<Distribution> fewest_rounds(const RankGraph& graph, const FewestRounds& task,
                                          const Pace& pace) {
  constexpr std::size_t most_chunks = 64;
  if (task.chunks * task.origins.size() > most_chunks) {
    throw Error(ErrorCode::unsupported,
                "the exhaustive search is for up to 64 chunks in all: use fewer, or the greedy");
  }
  return RoundSearch(graph, task, pace).run(task);
}

}  // namespace tutti::synthesis
