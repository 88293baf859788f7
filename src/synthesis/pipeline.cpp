#include "synthesis/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

#include "synthesis/fair_rates.hpp"

namespace tutti::synthesis {
namespace {

/// A piece that an edge can send.
struct Ready {
  std::uint32_t wave;  // Lower ones first. Pieces of a wave go through all trees.
  std::uint32_t way;   // The number of edges still to go.
  std::uint32_t piece;
  std::uint32_t turn;
  std::uint32_t tree;
  std::uint32_t rank;  // The lower end of the edge.

  /// True if `a` is sent later than `b`.
  friend bool operator<(const Ready& a, const Ready& b) {
    if (a.wave != b.wave) return a.wave > b.wave;
    if (a.way != b.way) return a.way < b.way;
    if (a.piece != b.piece) return a.piece > b.piece;
    return a.turn > b.turn;
  }
};

/// For each tree, by piece and rank: a number for the edge above the rank.
using Numbers = std::vector<std::vector<std::uint32_t>>;

/// List scheduling of all pieces of all trees, edge by edge.
class Timetable {
 public:
  /// For a reduction, `forwards` are the numbers() of its dual: what comes last there is sent
  /// first.
  Timetable(const RankGraph& graph, std::span<const Tree> trees, const Portion& portion,
            std::uint32_t pieces, const Numbers* forwards = nullptr)
      : graph_(graph),
        trees_(trees),
        pieces_(pieces),
        bytes_(portion.bytes / portion.trees / pieces),
        reduces_(forwards != nullptr),
        forwards_(forwards),
        waiting_(graph.edges.size()) {
    const double bytes = bytes_;
    shortest_ = 1e300;
    for (const RankEdge& edge : graph.edges) {
      seconds_.push_back(bytes / edge.bytes_per_second);
    }
    busy_.resize(graph.edges.size());
    find_ways();
    number_chunks(portion);
  }

  /// The message of a piece over an edge: after the rounds in which it arrived, and after the
  /// message before it. Sets the first round that comes after it on this edge.
  [[nodiscard]] Transfer transfer(std::uint32_t edge, const Ready& ready, std::uint32_t& next) {
    const std::uint32_t from = graph_.edges[edge].from;
    const std::uint32_t sender = reduces_ ? ready.rank : from;
    const std::uint32_t receiver = reduces_ ? from : ready.rank;
    const std::uint32_t round = std::max(next, round_at(ready, sender));
    next = round + 1;
    std::uint32_t& arrived = round_at(ready, receiver);
    arrived = std::max(arrived, next);
    rounds_ = std::max(rounds_, next);
    return {.round = round,
            .from = from,
            .to = graph_.edges[edge].to,
            .chunk = first_chunk_[ready.tree] + ready.piece};
  }

  /// If edges share links, the order of their messages depends on what they get of them.
  [[nodiscard]] Distribution run_on_shared_links(FairRates& fair) {
    Distribution result{.chunks = chunks_per_origin_};
    result.transfers.reserve(transfers());
    number_none();
    start();
    std::vector<double> rates(graph_.edges.size(), 0);
    std::vector<Ready> sending(graph_.edges.size());
    std::vector<double> left(graph_.edges.size(), 0);
    std::vector<std::uint32_t> last_round(graph_.edges.size(), 0);
    received_in_.assign(trees_.size(), {});
    std::vector<std::uint32_t> active;
    double now = 0;
    while (true) {
      bool changed = false;
      for (const std::uint32_t edge : touched_) {
        std::vector<Ready>& heap = waiting_[edge];
        if (left[edge] > 0) continue;
        const bool was_busy = busy_[edge];
        busy_[edge] = !heap.empty();
        changed = changed || busy_[edge] != was_busy;
        if (!busy_[edge]) continue;
        std::pop_heap(heap.begin(), heap.end());
        sending[edge] = heap.back();
        heap.pop_back();
        left[edge] = bytes_;
        number(sending[edge]);
        result.transfers.push_back(transfer(edge, sending[edge], last_round[edge]));
      }
      touched_.clear();
      if (changed) {
        fair.update(busy_, rates);
        active.clear();
        for (std::uint32_t e = 0; e < busy_.size(); ++e) {
          if (busy_[e]) active.push_back(e);
        }
      }
      if (active.empty()) break;
      double step = std::numeric_limits<double>::infinity();
      for (const std::uint32_t e : active) step = std::min(step, left[e] / rates[e]);
      now += step;
      for (const std::uint32_t e : active) {
        left[e] -= rates[e] * step;
        if (left[e] > 1e-9 * bytes_) continue;
        left[e] = 0;
        touched_.push_back(e);
      }
      const std::vector<std::uint32_t> ended = touched_;
      for (const std::uint32_t e : ended) passed(sending[e]);
    }
    result.seconds = now;
    finish(result);
    return result;
  }

  /// After a run: in which order pieces were sent.
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }

  [[nodiscard]] Distribution run() {
    Distribution result{.chunks = chunks_per_origin_};
    result.transfers.reserve(transfers());
    number_none();
    start();
    start_idle(0, result);
    while (!events_.empty()) {
      const double now = events_.top().time;
      while (!events_.empty() && events_.top().time <= now * (1 + 1e-12)) {
        const Event event = events_.top();
        events_.pop();
        if (event.arrives) {
          passed(event.ready);
        } else {
          busy_[event.edge] = false;
          touched_.push_back(event.edge);
        }
      }
      start_idle(now, result);
      result.seconds = now;
    }
    finish(result);
    return result;
  }

 private:
  /// A piece has left, so that its edge is free, or it arrives.
  struct Event {
    double time;
    std::uint32_t edge;
    bool arrives;
    Ready ready;

    friend bool operator<(const Event& a, const Event& b) { return a.time > b.time; }
  };

  [[nodiscard]] std::uint32_t pieces_of(std::uint32_t t) const {
    return static_cast<std::uint32_t>(trees_[t].weight) * pieces_;
  }

  void number_none() {
    numbers_.resize(trees_.size());
    for (std::uint32_t t = 0; t < trees_.size(); ++t) {
      numbers_[t].assign(std::size_t{pieces_of(t)} * graph_.ranks, 0);
    }
  }
  void number(const Ready& ready) {
    numbers_[ready.tree][std::size_t{ready.piece} * graph_.ranks + ready.rank] = next_number_++;
  }

  /// The transfers of a reduction are those of its dual, so their rounds run backwards.
  void finish(Distribution& result) const {
    result.rounds = rounds_;
    if (!reduces_) return;
    for (Transfer& each : result.transfers) each.round = rounds_ - 1 - each.round;
  }

  /// What can be sent at once: by the roots or, in a reduction, by the leaves.
  void start() {
    if (reduces_) waits_.resize(trees_.size());
    for (std::uint32_t t = 0; t < trees_.size(); ++t) {
      for (std::uint32_t piece = 0; piece < pieces_of(t); ++piece) {
        if (!reduces_) {
          push_children(t, piece, trees_[t].root);
          continue;
        }
        for (std::uint32_t rank = 0; rank < graph_.ranks; ++rank) {
          const std::uint32_t children = children_[t].first[rank + 1] - children_[t].first[rank];
          waits_[t].push_back(children);
          if (children == 0) push(t, piece, rank);
        }
      }
    }
  }

  /// A piece has passed the edge above a rank.
  void passed(const Ready& ready) {
    if (!reduces_) {
      push_children(ready.tree, ready.piece, ready.rank);
      return;
    }
    const std::uint32_t parent = graph_.edges[trees_[ready.tree].edge_into[ready.rank]].from;
    std::uint32_t& waits = waits_[ready.tree][std::size_t{ready.piece} * graph_.ranks + parent];
    if (--waits == 0 && parent != trees_[ready.tree].root) push(ready.tree, ready.piece, parent);
  }

  /// The first round in which a rank can send a piece on.
  std::uint32_t& round_at(const Ready& ready, std::uint32_t rank) {
    std::vector<std::uint32_t>& rounds = received_in_[ready.tree];
    if (rounds.empty()) {
      rounds.resize(static_cast<std::size_t>(trees_[ready.tree].weight) * pieces_ * graph_.ranks);
    }
    return rounds[std::size_t{ready.piece} * graph_.ranks + rank];
  }

  [[nodiscard]] std::size_t transfers() const {
    std::size_t count = 0;
    for (const Tree& tree : trees_) {
      count += static_cast<std::size_t>(tree.weight) * pieces_ * (graph_.ranks - 1);
    }
    return count;
  }

  void find_ways() {
    children_.resize(trees_.size());
    ways_.resize(trees_.size());
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      const Tree& tree = trees_[t];
      ways_[t].assign(graph_.ranks, 1);
      auto& first = children_[t].first;
      auto& list = children_[t].list;
      first.assign(graph_.ranks + 1, 0);
      for (const std::uint32_t edge : tree.edge_into) {
        if (edge == Tree::none) continue;
        ++first[graph_.edges[edge].from + 1];
        if (seconds_[edge] < shortest_) shortest_ = seconds_[edge];
      }
      for (std::uint32_t r = 0; r < graph_.ranks; ++r) first[r + 1] += first[r];
      list.resize(graph_.ranks - 1);
      auto next = first;
      for (auto rank = tree.order.rbegin(); rank != tree.order.rend(); ++rank) {
        const std::uint32_t edge = tree.edge_into[*rank];
        if (edge == Tree::none) continue;
        const std::uint32_t parent = graph_.edges[edge].from;
        list[next[parent]++] = *rank;
        ways_[t][parent] = std::max(ways_[t][parent], ways_[t][*rank] + 1);
      }
      if (!reduces_) continue;
      // Up to the root instead of down to the farthest leaf.
      for (const std::uint32_t rank : tree.order) {
        const std::uint32_t edge = tree.edge_into[rank];
        ways_[t][rank] = edge == Tree::none ? 0 : ways_[t][graph_.edges[edge].from] + 1;
      }
    }
  }

  /// The chunks of an origin are those of its trees, one tree after the other.
  void number_chunks(const Portion& portion) {
    chunks_per_origin_ = portion.trees * pieces_;
    std::vector<std::uint32_t> roots;
    for (const Tree& tree : trees_) roots.push_back(tree.root);
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    std::vector<std::uint32_t> used(graph_.ranks, 0);
    for (const Tree& tree : trees_) {
      const auto origin = static_cast<std::uint32_t>(
          std::lower_bound(roots.begin(), roots.end(), tree.root) - roots.begin());
      first_chunk_.push_back(origin * chunks_per_origin_ + used[tree.root]);
      used[tree.root] += static_cast<std::uint32_t>(tree.weight) * pieces_;
    }
  }

  void push_children(std::uint32_t t, std::uint32_t piece, std::uint32_t rank) {
    const Children& children = children_[t];
    for (std::uint32_t i = children.first[rank]; i < children.first[rank + 1]; ++i) {
      push(t, piece, children.list[i]);
    }
  }

  /// The piece can pass the edge above a rank.
  void push(std::uint32_t t, std::uint32_t piece, std::uint32_t rank) {
    const std::uint32_t edge = trees_[t].edge_into[rank];
    const std::uint32_t n = graph_.ranks;
    std::vector<Ready>& heap = waiting_[edge];
    const std::uint32_t wave = reduces_
                                   ? UINT32_MAX - (*forwards_)[t][std::size_t{piece} * n + rank]
                                   : piece / static_cast<std::uint32_t>(trees_[t].weight);
    heap.push_back({.wave = wave,
                    .way = ways_[t][rank],
                    .piece = piece,
                    .turn = (rank + n - trees_[t].root) % n,
                    .tree = t,
                    .rank = rank});
    std::push_heap(heap.begin(), heap.end());
    if (!busy_[edge]) touched_.push_back(edge);
  }

  /// Starts the next piece on every edge that is idle.
  void start_idle(double now, Distribution& result) {
    for (const std::uint32_t edge : touched_) {
      std::vector<Ready>& heap = waiting_[edge];
      if (busy_[edge] || heap.empty()) continue;
      std::pop_heap(heap.begin(), heap.end());
      const Ready ready = heap.back();
      heap.pop_back();
      number(ready);
      busy_[edge] = true;
      const double left = now + seconds_[edge];
      events_.push({.time = left, .edge = edge, .arrives = false, .ready = ready});
      events_.push({.time = left + graph_.edges[edge].latency,
                    .edge = edge,
                    .arrives = true,
                    .ready = ready});
      const auto round = static_cast<std::uint32_t>(now / shortest_ + 1e-6);
      rounds_ = std::max(rounds_, round + 1);
      result.transfers.push_back({.round = round,
                                  .from = graph_.edges[edge].from,
                                  .to = graph_.edges[edge].to,
                                  .chunk = first_chunk_[ready.tree] + ready.piece});
    }
    touched_.clear();
  }

  /// The children of each rank in one tree.
  struct Children {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> list;
  };

  const RankGraph& graph_;
  std::span<const Tree> trees_;
  std::uint32_t pieces_;
  double bytes_;  // Per piece.
  bool reduces_;
  const Numbers* forwards_;
  std::uint32_t chunks_per_origin_ = 1;
  double shortest_;
  std::vector<double> seconds_;  // Per piece, for each edge.
  std::vector<Children> children_;
  std::vector<std::vector<std::uint32_t>> ways_;   // For each tree and rank: see Ready::way.
  std::vector<std::vector<std::uint32_t>> waits_;  // In a reduction: messages still to come.
  std::vector<std::uint32_t> first_chunk_;
  std::vector<std::vector<Ready>> waiting_;  // A heap for each edge.
  std::vector<bool> busy_;
  std::vector<std::uint32_t> touched_;
  std::priority_queue<Event> events_;
  std::uint32_t rounds_ = 0;
  Numbers received_in_;
  Numbers numbers_;
  std::uint32_t next_number_ = 0;
};

}  // namespace

Distribution pipeline(const RankGraph& graph, std::span<const Tree> trees, const Portion& portion,
                      const Pace& pace) {
  std::size_t moves = 0;
  for (const Tree& tree : trees) moves += static_cast<std::size_t>(tree.weight) * (graph.ranks - 1);
  FairRates fair(graph);
  const auto with = [&](std::uint32_t pieces) {
    pace.report(1);
    // Each event looks at all edges.
    constexpr std::size_t most_work = 300'000'000;
    const bool fluid = fair.any_shared() && moves * pieces < most_work / graph.edges.size();
    const auto run = [&](Timetable& timetable) {
      return fluid ? timetable.run_on_shared_links(fair) : timetable.run();
    };
    Timetable forwards(graph, trees, portion, pieces);
    Distribution found = run(forwards);
    if (!portion.reduces) return found;
    Timetable backwards(graph, trees, portion, pieces, &forwards.numbers());
    return run(backwards);
  };
  if (portion.pieces > 0) return with(portion.pieces);
  // More pieces shorten the time until the pipeline is full, but each costs a message.
  constexpr std::size_t most_moves = 400'000;
  constexpr double worthwhile = 0.999;
  constexpr double enough = 1.005;
  Distribution best = with(1);
  bool stuck = false;
  for (std::uint32_t pieces = 2; pieces * moves <= most_moves; pieces *= 2) {
    if (pace.is_late() || best.seconds <= enough * portion.best_seconds) break;
    Distribution next = with(pieces);
    // One step may bring nothing although the next does.
    if (next.seconds > worthwhile * best.seconds && std::exchange(stuck, true)) break;
    if (next.seconds < best.seconds) best = std::move(next);
  }
  return best;
}

}  // namespace tutti::synthesis
