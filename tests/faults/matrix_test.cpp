#include <functional>

#include <gtest/gtest.h>

#include "faults/case_run.hpp"
#include "faults/scenario.hpp"
#include "support/sanitizer.hpp"

/// A sample of the fault matrix, which checks docs/failure.md. `matrix` runs more.
namespace tutti::test {
namespace {

/// Tests run in parallel.
constexpr double patience = is_sanitized ? 20 : 6;

using Filter = std::function<bool(const FaultCase&)>;

void run_some(std::uint64_t seed, std::uint64_t cases, const Filter& is_wanted) {
  std::uint64_t run = 0;
  for (std::uint64_t number = 0; run < cases; ++number) {
    const FaultCase drawn = draw(seed, number);
    if (!is_wanted(drawn)) continue;
    ++run;
    const CaseResult result = run_case(drawn, patience);
    for (const std::string& wrong : result.wrong) {
      ADD_FAILURE() << words(drawn) << "\n  repeat: matrix --cases 1 --seed " << seed << " --first "
                    << number << "\n  " << wrong;
    }
  }
}

Filter is_of(std::string_view scenario) {
  return [scenario](const FaultCase& drawn) { return scenario_of(drawn).name == scenario; };
}

Filter is_quick(std::string_view scenario) {
  return [scenario](const FaultCase& drawn) {
    return scenario_of(drawn).name == scenario && !drawn.keeps_waiting();
  };
}

TEST(FaultMatrix, EveryCallEndsInTimeWithTheSameVerdict) {
  run_some(7, is_sanitized ? 20 : 48, is_quick("call"));
}

TEST(FaultMatrix, VerdictSurvivesExits) { run_some(7, is_sanitized ? 10 : 30, is_quick("exit")); }

TEST(FaultMatrix, RetryEndsTheSameOnAllRanks) {
  run_some(7, is_sanitized ? 10 : 25, is_of("shard"));
}

TEST(FaultMatrix, CommunicatorChurn) { run_some(7, is_sanitized ? 5 : 20, is_of("churn")); }

TEST(FaultMatrix, OverlappingMessages) { run_some(7, is_sanitized ? 8 : 30, is_quick("messages")); }

TEST(FaultMatrix, ForksDuringCalls) {
  if (!can_fork_beside_threads) GTEST_SKIP() << "this sanitizer does not support these forks";
  run_some(7, is_sanitized ? 5 : 20, is_of("fork"));
}

TEST(FaultMatrix, NamesSilentAndLateRanks) {
  for (const Fault fault : {Fault::stop, Fault::slow}) {
    run_some(8, 1, [&](const FaultCase& drawn) {
      return drawn.fault == fault && scenario_of(drawn).name == "call";
    });
  }
  run_some(8, 1, [](const FaultCase& drawn) {
    return drawn.fault == Fault::stop && scenario_of(drawn).name == "messages";
  });
  run_some(8, 1, is_of("freeze"));
}

TEST(SlowFaultMatrix, EveryCallEndsInTimeWithTheSameVerdict) {
  run_some(9, is_sanitized ? 20 : 80, [](const FaultCase& drawn) {
    return can_fork_beside_threads || scenario_of(drawn).name != "fork";
  });
}

}  // namespace
}  // namespace tutti::test
