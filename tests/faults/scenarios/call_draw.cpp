#include <vector>

#include <tutti/schedule/problem.hpp>

#include "faults/scenarios/call.hpp"

namespace tutti::test {
namespace {

/// The faults that are possible: a thread cannot be killed alone, and has no connections.
Fault draw_fault(Random& random, Ground ground) {
  while (true) {
    const auto fault = static_cast<Fault>(random.below(fault_kinds));
    const bool is_of_process = fault == Fault::kill || fault == Fault::crash ||
                               fault == Fault::stop || fault == Fault::hang_up;
    if (ground == Ground::threads && is_of_process) continue;
    if (ground == Ground::memory && fault == Fault::hang_up) continue;
    return fault;
  }
}

std::string draw_algorithm(Random& random, Collective collective, std::uint32_t ranks,
                           std::uint32_t root) {
  std::vector<std::string> able;
  for (const Algorithm& each : algorithms(collective)) {
    Problem problem{.ranks = ranks, .root = root};
    if (each.needs_shape()) problem.shape = squarest(ranks);
    if (each.refusal(problem).empty()) able.emplace_back(each.name);
  }
  able.emplace_back("");  // tutti's choice
  return random.pick(able);
}

Difference draw_difference(Random& random, Collective collective) {
  std::vector<Difference> able{Difference::collective, Difference::order};
  if (collective == Collective::barrier) return Difference::collective;
  able.push_back(Difference::count);
  able.push_back(Difference::counts);
  able.push_back(Difference::dtype);
  if (is_reduction(collective)) able.push_back(Difference::op);
  if (has_root(collective)) able.push_back(Difference::root);
  return random.pick(able);
}

std::uint64_t draw_count(Random& random, Moment moment, Fault fault) {
  if (fault == Fault::slow || fault == Fault::stop) return 1 + random.below(20000U);
  if (moment == Moment::middle) return 100000 + random.below(300000U);
  const std::vector<std::uint64_t> most{1, 12, 1000, 40000};
  return 1 + random.below(random.pick(most));
}

}  // namespace

void draw_call(Random& random, FaultCase& drawn) {
  drawn.fault = draw_fault(random, drawn.ground);
  drawn.moment = static_cast<Moment>(random.below(4U));
  Trial& trial = drawn.trial;
  trial.collective = collectives()[random.below(collectives().size())];
  trial.root = has_root(trial.collective) ? random.below(drawn.ranks) : 0;
  trial.algorithm = draw_algorithm(random, trial.collective, drawn.ranks, trial.root);
  trial.count = draw_count(random, drawn.moment, drawn.fault);
  const bool has_blocks =
      has_block_per_rank(trial.collective) || trial.collective == Collective::alltoall;
  if (has_blocks) trial.count = 1 + trial.count / drawn.ranks;
  trial.in_place = random.one_in(2);
  trial.asynchronous = random.one_in(4);
  trial.shared = random.one_in(3);
  trial.single_copy = random.one_in(3);
  drawn.delay = std::chrono::microseconds(
      random.below(std::uint64_t{drawn.moment == Moment::middle ? 6000U : 200U}));
  drawn.continues = random.one_in(2);
  drawn.second =
      drawn.takes_life() && drawn.ground != Ground::threads && drawn.ranks > 2 && random.one_in(4);
  if (drawn.fault == Fault::mismatch) {
    drawn.moment = Moment::before;
    drawn.difference = draw_difference(random, trial.collective);
  }
}

/// A thread cannot end alone. A rank that does not need the connections that are shut down sees no
/// failure.
void draw_exit(Random& random, FaultCase& drawn) {
  if (drawn.ground == Ground::threads) drawn.ground = Ground::memory;
  do {
    draw_call(random, drawn);
  } while (drawn.fault == Fault::hang_up);
  drawn.second = false;
  drawn.ending = static_cast<Ending>(1 + random.below(endings - 1));
}

std::string call_words(const FaultCase& drawn) {
  std::string text = name(drawn.fault);
  text += drawn.difference == Difference::none ? " " + name(drawn.moment)
                                               : " of " + name(drawn.difference);
  text += ", " + words(drawn.trial);
  if (drawn.delay.count() > 0) text += ", after " + std::to_string(drawn.delay.count()) + " us";
  if (drawn.fault == Fault::stop) text += drawn.continues ? ", goes on" : ", is killed";
  if (drawn.second) text += ", and rank " + std::to_string(drawn.second_victim()) + " next";
  if (drawn.ending != Ending::recovers) text += ", then the others " + name(drawn.ending);
  return text;
}

std::string call_label(const FaultCase& drawn) { return name(drawn.fault); }
std::string exit_label(const FaultCase& drawn) { return "exit after " + name(drawn.fault); }

}  // namespace tutti::test
