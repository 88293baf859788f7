#include "faults/fault_case.hpp"

#include "faults/scenario.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

std::uint32_t draw_scenario(Random& random) {
  std::uint32_t sum = 0;
  for (const Scenario& each : scenarios()) sum += each.weight;
  std::uint32_t left = random.below(sum);
  std::uint32_t index = 0;
  while (left >= scenarios()[index].weight) left -= scenarios()[index++].weight;
  return index;
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
    case Fault::none:
      return "no fault";
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
    case Difference::counts:
      return "all counts";
  }
  return "";
}

std::string name(Ending ending) {
  switch (ending) {
    case Ending::recovers:
      return "recover";
    case Ending::returns:
      return "return";
    case Ending::exits:
      return "_exit";
    case Ending::throws:
      return "throw out of main";
    case Ending::dies:
      return "kill themselves";
  }
  return "";
}

std::chrono::milliseconds FaultCase::call_timeout() const { return keeps_waiting() ? 800ms : 0ms; }

bool FaultCase::is_stopped(std::uint32_t rank) const {
  return fault == Fault::stop && (rank + ranks - victim) % ranks < stopped;
}

bool FaultCase::takes_life() const {
  return fault == Fault::exit || fault == Fault::kill || fault == Fault::crash;
}

Trial FaultCase::trial_of(std::uint32_t rank) const {
  Trial own = trial;
  own.timeout = call_timeout();
  if (difference == Difference::counts) own.count += rank;
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
    case Difference::counts:
    case Difference::none:
      break;
  }
  return own;
}

Random FaultCase::chance() const { return Random(seed * 1000003 + number + (1ULL << 40)); }

FaultCase draw(std::uint64_t seed, std::uint64_t number) {
  Random random(seed * 1000003 + number);
  FaultCase drawn{.seed = seed, .number = number};
  drawn.scenario = draw_scenario(random);
  drawn.ground = static_cast<Ground>(random.below(grounds));
  drawn.ranks = 2 + random.below(5U);
  drawn.victim = random.below(drawn.ranks);
  scenario_of(drawn).draw(random, drawn);
  return drawn;
}

std::string words(const FaultCase& drawn) {
  return std::string(scenario_of(drawn).name) + ": " + name(drawn.ground) + ", " +
         std::to_string(drawn.ranks) + " ranks, rank " + std::to_string(drawn.victim) + ", " +
         scenario_of(drawn).words(drawn);
}

}  // namespace tutti::test
