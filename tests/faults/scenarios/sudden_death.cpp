#include "faults/scenarios/sudden_death.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

namespace tutti::test {
namespace {

/// One second to detect the death of a rank, and one to go on without it.
constexpr double pause_s = 2;

}  // namespace

std::vector<std::uint32_t> SuddenDeath::victims(const FaultCase& fault_case) {
  Random chance = fault_case.chance();
  std::vector<std::uint32_t> ranks{fault_case.victim};
  if (fault_case.ranks > 3 && chance.one_in(2)) ranks.push_back(fault_case.second_victim());
  return ranks;
}

SuddenDeath::SuddenDeath(const FaultCase& fault_case, std::uint32_t self, const Loop& loop,
                         BoardLine& line)
    : line_(line) {
  Random chance = fault_case.chance();
  (void)chance.bits();
  for (const std::uint32_t victim : victims(fault_case)) {
    const std::uint32_t step = chance.below(loop.steps);
    const auto after =
        std::chrono::microseconds(chance.below(static_cast<std::uint64_t>(loop.within.count())));
    if (victim != self) continue;
    at_step_ = step;
    after_ = after;
  }
}

SuddenDeath::~SuddenDeath() {
  if (timer_.joinable()) timer_.join();
}

void SuddenDeath::step(std::uint32_t number) {
  if (at_step_ != number || timer_.joinable()) return;
  timer_ = std::thread([this] {
    std::this_thread::sleep_for(after_);
    line_.fault_at = now_ns();
    kill(getpid(), SIGKILL);
  });
}

CaseResult judge_loop(const FaultCase& fault_case, const Board& board, double patience) {
  CaseResult result;
  const std::vector<std::uint32_t> victims = SuddenDeath::victims(fault_case);
  const BoardLine* first = nullptr;
  for (std::uint32_t rank = 0; rank < fault_case.ranks; ++rank) {
    if (std::find(victims.begin(), victims.end(), rank) != victims.end()) continue;
    const BoardLine& line = board[rank];
    const std::string who = "rank " + std::to_string(rank) + " ";
    if (line.stage != Stage::done) {
      result.wrong.push_back(who + "has only reached the stage " +
                             std::string(name(line.stage.load())) + ", step " +
                             std::to_string(line.steps));
    }
    if (line.trouble[0] != '\0') result.wrong.push_back(who + "says: " + line.trouble.data());
    if (first == nullptr) first = &line;
    for (std::uint32_t step = 0; step < std::min(line.steps.load(), first->steps.load()); ++step) {
      if (line.outcomes[step] == first->outcomes[step]) continue;
      result.wrong.push_back(who + "ended step " + std::to_string(step) + " with another outcome");
      break;
    }
    const double pause = 1e-9 * static_cast<double>(line.longest_pause_ns);
    result.recovery_s = std::max(result.recovery_s, pause);
    if (pause > pause_s * patience) {
      result.wrong.push_back(who + "paused for " + std::to_string(pause) + " s");
    }
  }
  return result;
}

}  // namespace tutti::test
