#include "algorithms/halves.hpp"

#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Halves, ExistWhileTheGroupHasTwoRanks) {
  for (std::uint32_t p = 1; p <= 70; ++p) {
    const auto depths = static_cast<std::uint32_t>(std::bit_width(p - 1));
    for (std::uint32_t r = 0; r < p; ++r) {
      EXPECT_EQ(halves(p, r, depths), std::nullopt);
      for (std::uint32_t depth = 0; depth + 1 < depths; ++depth) {
        EXPECT_TRUE(halves(p, r, depth).has_value()) << "p=" << p << " rank " << r;
      }
    }
  }
}

TEST(Halves, DifferByAtMostOneRankAndLowerIsLonger) {
  for (std::uint32_t p = 2; p <= 70; ++p) {
    for (std::uint32_t r = 0; r < p; ++r) {
      const Halves cut = halves(p, r, 0).value();
      const bool in_lower = cut.own_first == 0;
      const std::uint32_t lower = in_lower ? cut.own_count : cut.other_count;
      const std::uint32_t upper = in_lower ? cut.other_count : cut.own_count;
      EXPECT_EQ(lower + upper, p);
      EXPECT_TRUE(lower == upper || lower == upper + 1);
      EXPECT_TRUE(r >= cut.own_first && r < cut.own_first + cut.own_count);
    }
  }
}

TEST(Halves, ReceiversMatchSources) {
  for (std::uint32_t p = 2; p <= 70; ++p) {
    for (std::uint32_t depth = 0; depth < 7; ++depth) {
      for (std::uint32_t r = 0; r < p; ++r) {
        const auto cut = halves(p, r, depth);
        if (!cut) continue;
        const auto source_cut = halves(p, cut->source, depth);
        ASSERT_TRUE(source_cut.has_value());
        EXPECT_EQ(std::count(source_cut->receivers.begin(), source_cut->receivers.end(), r), 1);
        EXPECT_EQ(source_cut->own_first, cut->other_first);
        for (const Rank receiver : cut->receivers) {
          EXPECT_EQ(halves(p, receiver, depth)->source, r);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti
