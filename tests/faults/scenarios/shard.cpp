#include "faults/scenarios/shard.hpp"

#include <algorithm>

#include <tutti/retry.hpp>

#include "faults/scenarios/sudden_death.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t samples = 1000;

std::uint64_t sample(std::uint32_t step, std::uint64_t index) { return index * index + 7 * step; }

/// The sum of one rank's share.
std::uint64_t share(std::uint32_t step, std::uint32_t rank, std::uint32_t ranks) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = rank; i < samples; i += ranks) sum += sample(step, i);
  return sum;
}

std::string text_of(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (const std::uint32_t rank : ranks) text += " " + std::to_string(rank);
  return text.empty() ? " none" : text;
}

/// The error in the result of a step; empty if it is right.
std::string fault_of(std::uint32_t step, std::uint32_t ranks, const Retried& retried,
                     std::uint64_t sum, const Communicator& after) {
  std::uint64_t expected = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto& gone = retried.gone;
    if (std::find(gone.begin(), gone.end(), rank) != gone.end()) continue;
    expected += share(step, rank, ranks);
  }
  const std::string where = " in step " + std::to_string(step) + " of " + std::to_string(ranks) +
                            " ranks, gone:" + text_of(retried.gone);
  const std::size_t left = ranks - retried.gone.size();
  if (sum != expected) {
    return "a sum of " + std::to_string(sum) + ", not " + std::to_string(expected) + where;
  }
  if (retried.ranks != left) return "sums of " + std::to_string(retried.ranks) + " ranks" + where;
  if (after.size() != left) return "a group of " + std::to_string(after.size()) + where;
  return "";
}

void note_outcome(BoardLine& line, const Retried& retried, std::uint64_t sum) {
  std::uint64_t hash = sum * 31 + retried.ranks;
  for (const std::uint32_t rank : retried.gone) hash = hash * 31 + rank + 1;
  line.outcomes[line.steps] = hash;
  ++line.steps;
}

std::uint32_t steps_in(const FaultCase& fault_case) {
  return static_cast<std::uint32_t>(fault_case.trial.count);
}

}  // namespace

void draw_shard(Random& random, FaultCase& drawn) {
  // A thread cannot be killed alone.
  if (drawn.ground == Ground::threads) drawn.ground = Ground::memory;
  drawn.fault = Fault::kill;
  drawn.ranks = std::max(drawn.ranks, 3U);
  drawn.trial.count = 20 + random.below(100U);
}

void play_shard(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  const std::uint32_t steps = steps_in(fault_case);
  SuddenDeath death(fault_case, communicator.rank(), {.steps = steps, .within = 1500us}, line);
  line.stage = Stage::calling;
  std::int64_t last = now_ns();
  for (std::uint32_t step = 0; step < steps; ++step) {
    death.step(step);
    const std::uint32_t ranks = communicator.size();
    std::vector<std::uint64_t> sum{share(step, communicator.rank(), ranks)};
    const Retried retried = with_retry(
        communicator, [&](Communicator& group) { group.all_reduce(sum); }, sum);
    const std::string fault = fault_of(step, ranks, retried, sum[0], communicator);
    if (!fault.empty()) return note(line.trouble, fault);
    note_outcome(line, retried, sum[0]);
    if (!retried.gone.empty()) {
      std::vector<std::uint32_t> news(3 + retried.gone.size(), 1);
      (void)with_retry(
          communicator, [&](Communicator& group) { group.all_reduce(news); }, news);
    }
    const std::int64_t now = now_ns();
    line.longest_pause_ns = std::max(line.longest_pause_ns.load(), now - last);
    last = now;
  }
  line.stage = Stage::done;
}

CaseResult judge_shard(const FaultCase& fault_case, const Board& board, double patience) {
  return judge_loop(fault_case, board, patience);
}

std::string shard_words(const FaultCase& drawn) {
  std::string text = std::to_string(steps_in(drawn)) + " steps, killed:";
  return text + text_of(SuddenDeath::victims(drawn));
}

std::string shard_label(const FaultCase& /*drawn*/) { return "shard"; }

}  // namespace tutti::test
