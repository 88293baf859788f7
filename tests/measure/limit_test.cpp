#include "measure/limit.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

/// On a machine with round figures.
TEST(Limit, FollowsTheFormulasOfTheDocumentation) {
  measure::Machine machine{.cores = 2,
                           .memory = {{.bytes = 1 << 10, .copy = 1e12, .sum = 1e12},
                                      {.bytes = 1 << 20, .copy = 1e10, .sum = 1e9}},
                           .flag = 1e-6};
  const auto limit = [&](Collective collective) {
    return measure::limit_seconds(machine, collective, 4, 1'000'000);
  };
  EXPECT_NEAR(limit(Collective::allreduce), 1e-3 + 3e-4 + 2e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::reduce_scatter), 1e-3 + 2e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::broadcast), 3e-4 + 2e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::gather), 0.75e-4 + 2e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::barrier), 2e-6, 1e-12);
  machine.loopback = {.rate = 1e9, .latency = 1e-5};
  EXPECT_NEAR(limit(Collective::allreduce), 6e-3 + 1e-3 + 1e-5, 1e-12);
  EXPECT_NEAR(limit(Collective::alltoall), 3e-3 + 1e-5, 1e-12);
}

}  // namespace
}  // namespace tutti::test
