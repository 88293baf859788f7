#include "faults/fault_case.hpp"

#include <vector>

#include <tutti/problem.hpp>

#include "support/random.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Those that can happen there: one thread cannot be killed alone, and has no connections.
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
    Problem problem{.ranks = ranks, .root = Rank{root}};
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

std::string name(Fault fault) {
  switch (fault) {
    case Fault::exit:
      return "exit";
    case Fault::kill:
      return "kill";
    case Fault::crash:
      return "crash";
    case Fault::stop:
      return "stop";
    case Fault::abort:
      return "abort";
    case Fault::mismatch:
      return "mismatch";
    case Fault::slow:
      return "slow";
    case Fault::hang_up:
      return "hang-up";
  }
  return "";
}

std::string name(Ground ground) {
  switch (ground) {
    case Ground::threads:
      return "threads";
    case Ground::memory:
      return "memory";
    case Ground::tcp:
      return "tcp";
    case Ground::mixed:
      return "mixed";
  }
  return "";
}

std::string name(Moment moment) {
  switch (moment) {
    case Moment::before:
      return "before";
    case Moment::start:
      return "at the start";
    case Moment::middle:
      return "in the middle";
    case Moment::end:
      return "at the end";
  }
  return "";
}

std::string name(Difference difference) {
  switch (difference) {
    case Difference::none:
      return "nothing";
    case Difference::collective:
      return "collective";
    case Difference::dtype:
      return "dtype";
    case Difference::op:
      return "op";
    case Difference::count:
      return "count";
    case Difference::root:
      return "root";
    case Difference::order:
      return "order";
  }
  return "";
}

std::chrono::milliseconds FaultCase::call_timeout() const { return keeps_waiting() ? 800ms : 0ms; }

bool FaultCase::takes_life() const {
  return fault == Fault::exit || fault == Fault::kill || fault == Fault::crash;
}

Trial FaultCase::trial_of(std::uint32_t rank) const {
  Trial own = trial;
  own.timeout = call_timeout();
  if (rank != victim) return own;
  switch (difference) {
    case Difference::collective:
      own.algorithm.clear();
      own.root = 0;
      own.collective =
          trial.collective == Collective::allreduce ? Collective::alltoall : Collective::allreduce;
      break;
    case Difference::dtype:
      own.dtype = DType::f64;
      break;
    case Difference::op:
      own.op = Op::max;
      break;
    case Difference::count:
      ++own.count;
      break;
    case Difference::root:
      own.root = (trial.root + 1) % ranks;
      own.algorithm = trial.algorithm;
      break;
    case Difference::order:
    case Difference::none:
      break;
  }
  return own;
}

FaultCase draw(std::uint64_t seed, std::uint64_t number) {
  Random random(seed * 1000003 + number);
  FaultCase drawn{.seed = seed, .number = number};
  drawn.ground = static_cast<Ground>(random.below(grounds));
  drawn.fault = draw_fault(random, drawn.ground);
  drawn.moment = static_cast<Moment>(random.below(4U));
  drawn.ranks = 2 + random.below(5U);
  drawn.victim = random.below(drawn.ranks);
  Trial& trial = drawn.trial;
  trial.collective = collectives()[random.below(collectives().size())];
  trial.root = has_root(trial.collective) ? random.below(drawn.ranks) : 0;
  trial.algorithm = draw_algorithm(random, trial.collective, drawn.ranks, trial.root);
  trial.count = draw_count(random, drawn.moment, drawn.fault);
  trial.in_place = random.one_in(2);
  trial.asynchronous = random.one_in(4);
  trial.shared = random.one_in(3);
  drawn.delay = std::chrono::microseconds(
      random.below(std::uint64_t{drawn.moment == Moment::middle ? 6000U : 200U}));
  drawn.continues = random.one_in(2);
  drawn.second =
      drawn.takes_life() && drawn.ground != Ground::threads && drawn.ranks > 2 && random.one_in(4);
  if (drawn.fault == Fault::mismatch) {
    drawn.moment = Moment::before;
    drawn.difference = draw_difference(random, trial.collective);
  }
  return drawn;
}

std::string words(const FaultCase& drawn) {
  std::string text = name(drawn.fault);
  text += drawn.difference == Difference::none ? " " + name(drawn.moment)
                                               : " of " + name(drawn.difference);
  text += ", " + name(drawn.ground) + ", " + std::to_string(drawn.ranks) + " ranks, rank " +
          std::to_string(drawn.victim) + ", " + words(drawn.trial);
  if (drawn.delay.count() > 0) text += ", after " + std::to_string(drawn.delay.count()) + " us";
  if (drawn.fault == Fault::stop) text += drawn.continues ? ", goes on" : ", is killed";
  if (drawn.second) text += ", and rank " + std::to_string(drawn.second_victim()) + " next";
  return text;
}

}  // namespace tutti::test
