#include "verify/order.hpp"

#include <algorithm>
#include <unordered_map>

namespace tutti {
namespace {

constexpr std::uint32_t none = Messages::none;

/// The dependence graph: the events of a schedule and the events that each waits for.
class WaitGraph {
 public:
  explicit WaitGraph(const SymbolicRun& run) : run_(run) {
    const Schedule& schedule = run.schedule();
    for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
      const Program& program = schedule.programs[r];
      first_node_.push_back(nodes_of_steps_.size());
      for (std::size_t i = 0; i < program.size(); ++i) {
        const bool makes = program[i].makes();
        nodes_of_steps_.push_back(makes ? static_cast<std::uint32_t>(events_.size()) : none);
        if (makes) events_.push_back({.rank = r, .step = i});
      }
    }
    followers_.resize(events_.size());
    waiting_.resize(events_.size(), 0);
    for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) add_waits(r);
  }

  /// The events in topological order, without those that can never run.
  [[nodiscard]] std::vector<Event> order() {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t node = 0; node < events_.size(); ++node) {
      if (waiting_[node] == 0) ready.push_back(node);
    }
    std::vector<Event> ordered;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      ordered.push_back(events_[ready[i]]);
      for (const std::uint32_t follower : followers_[ready[i]]) {
        if (--waiting_[follower] == 0) ready.push_back(follower);
      }
    }
    return ordered;
  }

  /// A cycle of events that wait for each other. Requires: order() left some out.
  [[nodiscard]] std::vector<Event> cycle() const {
    std::vector<std::uint32_t> waits_for(events_.size(), none);
    std::uint32_t at = none;
    for (std::uint32_t node = 0; node < events_.size(); ++node) {
      if (waiting_[node] == 0) continue;
      at = node;
      for (const std::uint32_t follower : followers_[node]) waits_for[follower] = node;
    }
    // Every remaining event waits for another remaining one, so following the edges finds a cycle.
    std::vector<bool> seen(events_.size(), false);
    while (!seen[at]) {
      seen[at] = true;
      at = waits_for[at];
    }
    std::vector<Event> found;
    const std::uint32_t start = at;
    do {
      found.push_back(events_[at]);
      at = waits_for[at];
    } while (at != start);
    return found;
  }

 private:
  struct Bytes {
    std::uint32_t writer = none;
    std::vector<std::uint32_t> readers;  // Since that write.
  };

  [[nodiscard]] std::uint32_t node(Rank rank, std::size_t step) const {
    return nodes_of_steps_[first_node_[rank] + step];
  }

  void wait(std::uint32_t follower, std::uint32_t leader) {
    if (leader == none || leader == follower) return;
    followers_[leader].push_back(follower);
    ++waiting_[follower];
  }

  /// Calls f(place) for the place of each chunk of a step, in that variant.
  template <class F>
  void for_each_place(Rank self, std::size_t step, Buffer Placement::Piece::*buffer,
                      Variant variant, F f) const {
    for (const Placement::Piece& piece : run_.placement(self).pieces(step)) {
      for (std::uint64_t j = 0; j < piece.chunks.count; ++j) {
        f(run_.memory(self)(piece.*buffer, Chunk{piece.chunks.first.index() + j}, variant));
      }
    }
  }

  void add_waits(Rank self) {
    const Program& program = run_.schedule().program(self);
    std::vector<Bytes> memory(run_.memory(self).size());
    std::unordered_map<std::uint32_t, std::uint32_t> last_from;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Step step = program[i];
      const auto add_reads = [&](std::uint32_t reader) {
        step.for_each_read([&](Variant variant) {
          for_each_place(self, i, &Placement::Piece::from, variant, [&](std::size_t place) {
            wait(reader, memory[place].writer);
            memory[place].readers.push_back(reader);
          });
        });
      };
      if (step.kind == Step::Kind::send) {
        const auto receivers = run_.messages().counterparts(self, i);
        for (std::size_t k = 0; k < receivers.size(); ++k) {
          add_reads(node(step.peers[k], receivers[k]));
        }
        continue;
      }
      const std::uint32_t own = node(self, i);
      add_reads(own);
      for_each_place(self, i, &Placement::Piece::to, step.variant, [&](std::size_t place) {
        Bytes& bytes = memory[place];
        wait(own, bytes.writer);
        for (const std::uint32_t reader : bytes.readers) wait(own, reader);
        bytes = {.writer = own, .readers = {}};
      });
      for (const Rank peer : step.peers) {
        const auto [last, is_first] = last_from.try_emplace(peer, own);
        if (!is_first && last->second != own) wait(own, std::exchange(last->second, own));
      }
    }
  }

  const SymbolicRun& run_;
  std::vector<std::size_t> first_node_;        // First step of each rank in nodes_of_steps_.
  std::vector<std::uint32_t> nodes_of_steps_;  // Event of each step; none for sends.
  std::vector<Event> events_;
  std::vector<std::vector<std::uint32_t>> followers_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace

std::vector<Event> order_by_round(const Schedule& schedule) {
  struct Timed {
    std::uint64_t moment;  // Twice the round, plus one for a local step.
    Event event;
  };
  std::vector<Timed> events;
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    const Program& program = schedule.programs[r];
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Step step = program[i];
      if (!step.makes()) continue;
      const std::uint64_t moment =
          std::uint64_t{step.round} * 2 + (step.kind == Step::Kind::local ? 1 : 0);
      events.push_back({.moment = moment, .event = {.rank = r, .step = i}});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Timed& a, const Timed& b) { return a.moment < b.moment; });
  std::vector<Event> ordered;
  ordered.reserve(events.size());
  for (const Timed& each : events) ordered.push_back(each.event);
  return ordered;
}

std::vector<Event> order_by_dependence(const SymbolicRun& run, Findings& findings) {
  WaitGraph graph(run);
  std::vector<Event> ordered = graph.order();
  const std::size_t events = order_by_round(run.schedule()).size();
  if (ordered.size() == events) return ordered;

  const std::vector<Event> cycle = graph.cycle();
  constexpr std::size_t most_named = 6;
  std::string words = "waits in a cycle of " + std::to_string(cycle.size()) + ":";
  for (std::size_t i = 0; i < std::min(cycle.size(), most_named); ++i) {
    words += (i == 0 ? " rank " : ", then rank ") + std::to_string(cycle[i].rank) + " step " +
             std::to_string(cycle[i].step);
  }
  if (cycle.size() > most_named) words += ", …";
  words += "; " + std::to_string(events - ordered.size()) + " receives never run";
  const Step step = run.schedule().program(cycle.front().rank)[cycle.front().step];
  findings.add(Violation::Kind::deadlock,
               {.rank = cycle.front().rank, .round = step.round, .step = cycle.front().step},
               words);
  return ordered;
}

}  // namespace tutti
