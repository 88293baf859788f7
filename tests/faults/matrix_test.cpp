#include <gtest/gtest.h>

#include "faults/case_run.hpp"
#include "support/sanitizer.hpp"

/// What docs/failure.md promises, in as many ways as there is time for. `matrix` runs more.
namespace tutti::test {
namespace {

/// Tests run side by side.
constexpr double patience = is_sanitized ? 20 : 6;

void run_some(std::uint64_t seed, std::uint64_t cases, bool with_waiting) {
  std::uint64_t run = 0;
  for (std::uint64_t number = 0; run < cases; ++number) {
    const FaultCase drawn = draw(seed, number);
    if (drawn.keeps_waiting() && !with_waiting) continue;
    ++run;
    const CaseResult result = run_case(drawn, patience);
    for (const std::string& wrong : result.wrong) {
      ADD_FAILURE() << words(drawn) << "\n  repeat: matrix --seed " << seed << " --first " << number
                    << " --cases 1\n  " << wrong;
    }
  }
}

TEST(FaultMatrix, EveryCallEndsInTimeAndAlikeForAll) { run_some(7, is_sanitized ? 20 : 48, false); }

TEST(FaultMatrix, WhoIsMuteOrLateIsNamed) {
  std::uint64_t number = 0;
  for (const Fault fault : {Fault::stop, Fault::slow}) {
    FaultCase drawn = draw(8, number);
    while (drawn.fault != fault) drawn = draw(8, ++number);
    EXPECT_EQ(run_case(drawn, patience).wrong, std::vector<std::string>{}) << words(drawn);
  }
}

TEST(SlowFaultMatrix, EveryCallEndsInTimeAndAlikeForAll) {
  run_some(9, is_sanitized ? 20 : 40, true);
}

}  // namespace
}  // namespace tutti::test
