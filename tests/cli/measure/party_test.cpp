#include "cli/measure/party.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

TEST(Party, ComesFromTheCommunicator) {
  run_threads(3, [](Communicator& communicator) {
    const Party party = measure::party_of(communicator);
    EXPECT_EQ(party.ranks, 3);
    EXPECT_EQ(party.reach.pairs, Pairs::process);
    EXPECT_EQ(party.reach.crowded, 3 > party.cores);
    EXPECT_EQ(party.cores, measure::own_cores());
    const Communicator moved = std::move(communicator);
    EXPECT_EQ(measure::party_of(moved).ranks, 3);
    expect_error([&] { (void)measure::party_of(communicator); }, ErrorCode::invalid_argument,
                 "was moved from");
  });
}

TEST(Party, OfThisHostIsCrowdedWithMoreRanksThanCores) {
  const std::uint32_t cores = measure::own_cores();
  EXPECT_FALSE(measure::local_party(cores, Pairs::host).reach.crowded);
  EXPECT_TRUE(measure::local_party(cores + 1, Pairs::host).reach.crowded);
  EXPECT_FALSE(measure::local_party(4, Pairs::loopback).is_mixed());
}

}  // namespace
}  // namespace tutti::test
