#include "cost/step_graph.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <tutti/error.hpp>

#include "schedule/chunk_slots.hpp"

namespace tutti {

StepGraph::StepGraph(const Schedule& which) : schedule(&which) {
  const Messages meetings(which);
  if (!meetings.complete()) {
    throw Error(ErrorCode::invalid_argument,
                "'" + which.name +
                    "' cannot be priced: some of its sends and receives do not match; verify it");
  }
  std::vector<std::uint32_t> first_step;
  std::uint32_t total = 0;
  for (const Program& program : which.programs) {
    first_step.push_back(total);
    total += static_cast<std::uint32_t>(program.size());
  }
  steps.reserve(total);
  messages.reserve(total / 2);
  waiting.reserve(total);
  for (std::uint32_t r = 0; r < which.programs.size(); ++r) {
    add_rank(r, meetings, first_step);
    add_waits(r, first_step[r]);
  }
  index_messages();
}

void StepGraph::add_rank(Rank self, const Messages& meetings,
                         std::span<const std::uint32_t> first_step) {
  const Program& program = schedule->program(self);
  std::uint32_t round = none;
  std::uint32_t slot = 0;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Step step = program[i];
    const bool sends = step.kind == Step::Kind::send;
    if (step.round != round) slot = 0;
    round = step.round;
    if (sends) {
      const auto receivers = meetings.counterparts(self, i);
      for (std::size_t k = 0; k < receivers.size(); ++k) {
        const std::uint32_t peer = step.peers[k];
        messages.push_back({.send = first_step[self] + i,
                            .receive = first_step[peer] + receivers[k],
                            .slot = slot++});
      }
    }
    steps.push_back({.rank = self,
                     .round = step.round,
                     .operands = sends ? 0 : static_cast<std::uint32_t>(step.operands()),
                     .waits = sends ? 0 : static_cast<std::uint32_t>(step.peers.size()),
                     .messages_end = static_cast<std::uint32_t>(messages.size()),
                     .waiters_end = 0});
  }
}

/// A send waits for the steps that made the data it sends; a fold waits for those that made its own
/// operands.
void StepGraph::add_waits(Rank self, std::uint32_t first_step) {
  const Program& program = schedule->program(self);
  const ChunkSlots slots(program, schedule->contract, self);
  std::vector<std::uint32_t> writer(slots.total(), none);
  std::vector<std::uint32_t> counted_for(program.size(), none);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // (awaited step, waiting step).
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Step step = program[i];
    for_each_chunk(step, [&](Chunk chunk) {
      step.for_each_read([&](Variant variant) {
        const std::uint32_t wrote = writer[slots.slot(chunk, variant)];
        if (wrote == none || wrote == i || counted_for[wrote] == i) return;
        counted_for[wrote] = i;
        pairs.emplace_back(wrote, i);
        ++steps[first_step + i].waits;
      });
      if (step.makes()) writer[slots.slot(chunk, step.variant)] = i;
    });
  }
  std::sort(pairs.begin(), pairs.end());
  auto pair = pairs.begin();
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    for (; pair != pairs.end() && pair->first == i; ++pair) {
      waiting.push_back(first_step + pair->second);
    }
    steps[first_step + i].waiters_end = static_cast<std::uint32_t>(waiting.size());
  }
}

/// Messages are numbered by sender, so the messages of a sender are already consecutive.
void StepGraph::index_messages() {
  const std::size_t p = schedule->programs.size();
  first_outgoing_.assign(p + 1, 0);
  first_incoming_.assign(p + 1, 0);
  for (const Message& message : messages) {
    ++first_outgoing_[steps[message.send].rank + 1];
    ++first_incoming_[steps[message.receive].rank + 1];
  }
  for (std::size_t r = 0; r < p; ++r) {
    first_outgoing_[r + 1] += first_outgoing_[r];
    first_incoming_[r + 1] += first_incoming_[r];
  }
  outgoing_.resize(messages.size());
  std::iota(outgoing_.begin(), outgoing_.end(), 0);
  incoming_.resize(messages.size());
  std::vector<std::size_t> next(first_incoming_.begin(), first_incoming_.end() - 1);
  for (const std::uint32_t id : outgoing_) {
    incoming_[next[steps[messages[id].receive].rank]++] = id;
  }
  for (std::size_t r = 0; r < p; ++r) {
    const auto begin = incoming_.begin();
    std::sort(begin + static_cast<std::ptrdiff_t>(first_incoming_[r]),
              begin + static_cast<std::ptrdiff_t>(first_incoming_[r + 1]),
              [&](std::uint32_t a, std::uint32_t b) {
                return std::tie(messages[a].receive, a) < std::tie(messages[b].receive, b);
              });
  }
}

std::vector<std::uint64_t> StepGraph::sizes(const Layout& layout) const {
  std::vector<std::uint64_t> bytes;
  bytes.reserve(steps.size());
  for (const Program& program : schedule->programs) {
    for (const Step step : program) {
      std::uint64_t size = 0;
      for (const ChunkRange& range : step.chunks) size += layout.size(range);
      bytes.push_back(size);
    }
  }
  return bytes;
}

}  // namespace tutti
