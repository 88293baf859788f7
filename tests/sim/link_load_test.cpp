#include "sim/link_load.hpp"

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/schedule/algorithm.hpp>

#include "support/errors.hpp"

namespace tutti {
namespace {

TEST(LinkLoad, RingOnARingLoadsOneDirectionEvenly) {
  const Schedule schedule = algorithm("allreduce/ring").schedule({.ranks = 8});
  const Network network = generate("ring:p=8");
  Routes routes(network);
  const auto loads = link_loads(schedule, even_layout(schedule.contract, 8000), network, routes);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    // 2(p−1) messages of an eighth in one direction, none in the other.
    const bool up = i % 2 == 0;
    EXPECT_EQ(loads[i].messages, up ? 14U : 0U) << network.describe(LinkId{std::uint32_t(i)});
    EXPECT_EQ(loads[i].bytes, up ? 14000U : 0U);
  }
}

TEST(LinkLoad, SumEqualsBytesTimesStretch) {
  const Network network = generate("torus:4x4");
  Routes routes(network);
  for (const char* name :
       {"allreduce/halving_doubling", "alltoall/pairwise", "allreduce/binomial"}) {
    const Schedule schedule = algorithm(name).schedule({.ranks = 16});
    const auto loads =
        link_loads(schedule, Layout::equal(schedule.contract.chunks, 1), network, routes);
    std::uint64_t messages = 0;
    for (const LinkLoad& load : loads) messages += load.messages;
    const std::vector<Hop> hops = hops_of(schedule);
    EXPECT_DOUBLE_EQ(static_cast<double>(messages),
                     stretch(routes, hops).average * static_cast<double>(hops.size()));
  }
}

TEST(LinkLoad, RejectsANetworkWithTooFewRanks) {
  const Schedule schedule = algorithm("allreduce/ring").schedule({.ranks = 8});
  const Network network = generate("star:p=4");
  Routes routes(network);
  test::expect_error(
      [&] { (void)link_loads(schedule, even_layout(schedule.contract, 8), network, routes); },
      ErrorCode::invalid_argument, "the schedule is for 8 ranks, but star:p=4 has 4");
}

}  // namespace
}  // namespace tutti
