#include "faults/scenarios/churn.hpp"

#include <algorithm>

#include "faults/scenarios/sudden_death.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// The promised times.
constexpr double shrink_s = 1;

std::uint32_t steps_of(const FaultCase& fault_case) {
  return static_cast<std::uint32_t>(fault_case.trial.count);
}

/// Throws if the sum is wrong.
void use(Communicator& communicator, std::uint32_t step) {
  std::vector<std::uint32_t> data(10 + step % 3, communicator.rank() + 1);
  communicator.all_reduce(data);
  const std::uint32_t expected = communicator.size() * (communicator.size() + 1) / 2;
  if (data.back() == expected) return;
  throw std::runtime_error("a sum of " + std::to_string(data.back()) + " in a group of " +
                           std::to_string(communicator.size()));
}

/// Makes, uses and destroys communicators in one of several ways.
void churn(Communicator& communicator, std::uint32_t step) {
  switch (step % 4) {
    case 0: {
      Communicator twin = communicator.duplicate();
      use(twin, step);
      return;
    }
    case 1: {
      std::optional<Communicator> part =
          communicator.split(communicator.rank() % 2, communicator.size() - communicator.rank());
      use(*part, step);
      use(communicator, step);
      return;
    }
    case 2: {
      std::vector<Communicator> several;
      for (int i = 0; i < 3; ++i) several.push_back(communicator.duplicate());
      for (Communicator& each : several) use(each, step);
      return;
    }
    default: {
      // From a communicator that is destroyed before its child is used.
      std::optional<Communicator> child;
      {
        Communicator twin = communicator.duplicate();
        child = twin.duplicate();
      }
      use(*child, step);
    }
  }
}

/// The last step that all surviving ranks have done.
std::uint32_t common_step(Communicator& communicator, std::uint32_t own) {
  std::vector<std::uint32_t> least{own};
  communicator.all_reduce(least, Op::min);
  communicator.barrier();
  return least[0];
}

class Churner {
 public:
  Churner(Communicator& communicator, BoardLine& line)
      : communicator_(communicator), line_(line), last_(now_ns()) {}

  void run(std::uint32_t steps, SuddenDeath& death) {
    std::uint32_t step = 0;
    while (true) {
      try {
        if (has_lost_) step = common_step(communicator_, step);
        has_lost_ = false;
        while (step < steps) {
          death.step(step);
          churn(communicator_, step);
          ++step;
          look_at_clock();
        }
        // No rank leaves while others may still need it.
        communicator_.barrier();
        line_.called_at = now_ns();
        return;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::peer_lost && error.code() != ErrorCode::aborted) throw;
        shrink();
      }
    }
  }

 private:
  void shrink() {
    line_.stage = Stage::shrinking;
    const std::int64_t begun = now_ns();
    Regrouped shrunk = communicator_.shrink();
    line_.recovered_at = now_ns();
    line_.longest_shrink_ns =
        std::max(line_.longest_shrink_ns.load(), line_.recovered_at.load() - begun);
    communicator_ = std::move(*shrunk.communicator);
    line_.left = communicator_.size();
    line_.stage = Stage::calling;
    has_lost_ = true;
  }

  void look_at_clock() {
    const std::int64_t now = now_ns();
    line_.longest_pause_ns = std::max(line_.longest_pause_ns.load(), now - last_);
    last_ = now;
  }

  Communicator& communicator_;
  BoardLine& line_;
  std::int64_t last_;
  bool has_lost_ = false;
};

}  // namespace

void draw_churn(Random& random, FaultCase& drawn) {
  // A thread cannot be killed alone.
  if (drawn.ground == Ground::threads) drawn.ground = Ground::memory;
  drawn.fault = Fault::kill;
  drawn.ranks = std::max(drawn.ranks, 3U);
  drawn.trial.count = 8 + random.below(20U);
}

void play_churn(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  const std::uint32_t steps = steps_of(fault_case);
  SuddenDeath death(fault_case, communicator.rank(), {.steps = steps, .within = 20000us}, line);
  line.stage = Stage::calling;
  Churner(communicator, line).run(steps, death);
  line.stage = Stage::done;
}

/// The last group of a rank may lack the ranks that were killed, and ranks that had finished and
/// left before it was made.
CaseResult judge_churn(const FaultCase& fault_case, const Board& board, double patience) {
  CaseResult result = judge_loop(fault_case, board, patience);
  const std::vector<std::uint32_t> victims = SuddenDeath::victims(fault_case);
  for (std::uint32_t rank = 0; rank < fault_case.ranks; ++rank) {
    if (std::find(victims.begin(), victims.end(), rank) != victims.end()) continue;
    const BoardLine& line = board[rank];
    const std::string who = "rank " + std::to_string(rank) + " ";
    std::size_t missing = victims.size();
    for (std::uint32_t other = 0; other < fault_case.ranks; ++other) {
      const std::int64_t through = board[other].called_at;
      if (through > 0 && through < line.recovered_at) ++missing;
    }
    if (line.left > 0 && line.left + missing < fault_case.ranks) {
      result.wrong.push_back(who + "is left in a group of " + std::to_string(line.left));
    }
    const double shrink = 1e-9 * static_cast<double>(line.longest_shrink_ns);
    result.detection_s = std::max(result.detection_s, shrink);
    if (shrink > shrink_s * patience) {
      result.wrong.push_back(who + "took " + std::to_string(shrink) + " s to shrink");
    }
  }
  return result;
}

std::string churn_words(const FaultCase& drawn) {
  std::string text = std::to_string(steps_of(drawn)) + " steps, killed:";
  for (const std::uint32_t rank : SuddenDeath::victims(drawn)) text += " " + std::to_string(rank);
  return text;
}

std::string churn_label(const FaultCase& /*drawn*/) { return "churn"; }

}  // namespace tutti::test
