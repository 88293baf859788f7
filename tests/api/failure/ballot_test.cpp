#include "api/failure/ballot.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

/// Ballots by rank, from the number of calls with retry that each rank has completed.
Ballots after(const std::map<std::uint32_t, std::uint64_t>& retried) {
  Ballots ballots;
  for (const auto& [rank, calls] : retried) ballots[rank] = Ballot{.retried = calls}.text();
  return ballots;
}

TEST(Ballot, RoundTrips) {
  const Ballot read = Ballot::read(
      Ballot{.subject = Ballot::Subject::has_built, .yes = false, .completed = 3, .retried = 4}
          .text());
  EXPECT_EQ(read.subject, Ballot::Subject::has_built);
  EXPECT_FALSE(read.yes);
  EXPECT_EQ(read.completed, 3U);
  EXPECT_EQ(read.retried, 4U);
}

TEST(Ballot, ThoseInStepAreAllWithEqualCounts) {
  EXPECT_EQ(those_in_step(after({{0, 5}, {2, 5}, {3, 5}})), after({{0, 5}, {2, 5}, {3, 5}}));
  EXPECT_EQ(those_in_step({}), Ballots{});
}

TEST(Ballot, ThoseInStepAreTheMajority) {
  EXPECT_EQ(those_in_step(after({{0, 6}, {2, 5}, {3, 5}})), after({{2, 5}, {3, 5}}));
  EXPECT_EQ(those_in_step(after({{0, 5}, {2, 6}, {3, 5}})), after({{0, 5}, {3, 5}}));
}

TEST(Ballot, ThoseInStepOnATieFollowTheLowestRank) {
  EXPECT_EQ(those_in_step(after({{1, 6}, {2, 5}})), after({{1, 6}}));
  EXPECT_EQ(those_in_step(after({{0, 5}, {1, 6}, {2, 6}, {3, 5}})), after({{0, 5}, {3, 5}}));
}

}  // namespace
}  // namespace tutti::test
