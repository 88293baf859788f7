#include "synthesis/greedy.hpp"

#include <algorithm>
#include <bit>
#include <queue>

#include "core/hash.hpp"

namespace tutti::synthesis {
namespace {

class Matching {
 public:
  Matching(const RankGraph& graph, const GreedyTask& task)
      : graph_(graph),
        chunks_(static_cast<std::uint32_t>(task.origins.size()) * task.chunks),
        words_((chunks_ + 63) / 64),
        has_(graph.ranks * words_),
        claimed_(graph.ranks * words_),
        holders_(chunks_, 1),
        out_(graph.ranks),
        busy_(graph.edges.size()),
        queued_(graph.edges.size()),
        random_(task.seed) {
    const double bytes = task.bytes / task.chunks;
    for (std::uint32_t i = 0; i < graph.edges.size(); ++i) {
      const RankEdge& edge = graph.edges[i];
      seconds_.push_back(edge.latency + bytes / edge.bytes_per_second);
      out_[edge.from].push_back(i);
    }
    shortest_ = *std::min_element(seconds_.begin(), seconds_.end());
    for (std::uint32_t o = 0; o < task.origins.size(); ++o) {
      for (std::uint32_t c = o * task.chunks; c < (o + 1) * task.chunks; ++c) {
        set(has_, task.origins[o], c);
        set(claimed_, task.origins[o], c);
      }
    }
  }

  [[nodiscard]] Distribution run(const GreedyTask& task, const Pace& pace) {
    Distribution result{.chunks = task.chunks};
    for (std::uint32_t i = 0; i < graph_.edges.size(); ++i) wake(i);
    start(0, result);
    while (!events_.empty()) {
      pace.report(static_cast<double>(result.transfers.size()) /
                  (static_cast<double>(chunks_) * (graph_.ranks - 1)));
      const double now = events_.top().time;
      while (!events_.empty() && events_.top().time <= now * (1 + 1e-12)) {
        const Event event = events_.top();
        events_.pop();
        const std::uint32_t to = graph_.edges[event.edge].to;
        set(has_, to, event.chunk);
        busy_[event.edge] = false;
        wake(event.edge);
        for (const std::uint32_t each : out_[to]) wake(each);
      }
      start(now, result);
      result.seconds = now;
    }
    result.rounds = rounds_;
    return result;
  }

 private:
  struct Event {
    double time;
    std::uint32_t edge;
    std::uint32_t chunk;

    friend bool operator<(const Event& a, const Event& b) { return a.time > b.time; }
  };

  void set(std::vector<std::uint64_t>& bits, std::uint32_t rank, std::uint32_t chunk) {
    bits[std::size_t{rank} * words_ + chunk / 64] |= std::uint64_t{1} << chunk % 64;
  }
  void wake(std::uint32_t edge) {
    if (busy_[edge] || queued_[edge]) return;
    queued_[edge] = true;
    idle_.push_back(edge);
  }

  void start(double now, Distribution& result) {
    // In another order each time, so that no edge always chooses first.
    for (std::size_t i = idle_.size(); i > 1; --i) {
      std::swap(idle_[i - 1], idle_[next_random(random_) % i]);
    }
    for (const std::uint32_t edge : idle_) {
      queued_[edge] = false;
      const std::uint32_t chunk = rarest(edge);
      if (chunk == none) continue;
      const RankEdge& each = graph_.edges[edge];
      set(claimed_, each.to, chunk);
      ++holders_[chunk];
      busy_[edge] = true;
      events_.push({.time = now + seconds_[edge], .edge = edge, .chunk = chunk});
      const auto round = static_cast<std::uint32_t>(now / shortest_ + 1e-6);
      rounds_ = std::max(rounds_, round + 1);
      result.transfers.push_back(
          {.round = round, .from = each.from, .to = each.to, .chunk = chunk});
    }
    idle_.clear();
  }

  /// The chunk with the fewest holders that the edge can send and its receiver lacks.
  std::uint32_t rarest(std::uint32_t edge) {
    const std::uint64_t* const has = &has_[std::size_t{graph_.edges[edge].from} * words_];
    const std::uint64_t* const claimed = &claimed_[std::size_t{graph_.edges[edge].to} * words_];
    const std::uint64_t random = next_random(random_);
    const std::size_t begin = random % words_;
    const int turn = static_cast<int>(random >> 32 & 63);
    std::uint32_t best = none;
    std::uint32_t fewest = none;
    for (std::size_t k = 0; k < words_; ++k) {
      const std::size_t w = begin + k < words_ ? begin + k : begin + k - words_;
      // Turned, so that equally rare chunks have equal chances.
      for (std::uint64_t bits = std::rotr(has[w] & ~claimed[w], turn); bits != 0;
           bits &= bits - 1) {
        const int at = (std::countr_zero(bits) + turn) % 64;
        const auto chunk = static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(at);
        if (holders_[chunk] >= fewest) continue;
        fewest = holders_[chunk];
        best = chunk;
      }
    }
    return best;
  }

  static constexpr std::uint32_t none = UINT32_MAX;

  const RankGraph& graph_;
  std::uint32_t chunks_;
  std::size_t words_;
  std::vector<std::uint64_t> has_;      // For each rank, a bit for each chunk.
  std::vector<std::uint64_t> claimed_;  // The same, with those on their way.
  std::vector<std::uint32_t> holders_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::vector<bool> busy_;
  std::vector<bool> queued_;
  std::vector<std::uint32_t> idle_;
  std::vector<double> seconds_;
  double shortest_ = 0;
  std::priority_queue<Event> events_;
  std::uint32_t rounds_ = 0;
  std::uint64_t random_;
};

}  // namespace

Distribution greedy(const RankGraph& graph, const GreedyTask& task, const Pace& pace) {
  return Matching(graph, task).run(task, pace);
}

}  // namespace tutti::synthesis
