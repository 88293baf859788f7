#include "api/call/overlap.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace tutti::test {
namespace {

/// Beside a comparison of every send with every receive.
TEST(Overlap, IsFoundWhereverItIs) {
  constexpr std::size_t bytes = 100;
  std::vector<std::byte> memory(bytes);
  int overlapping = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    std::vector<Outgoing> out(random.below(5U));
    std::vector<Incoming> in(random.below(5U));
    const auto choose = [&](auto& message) {
      const std::size_t begin = random.below(bytes);
      message.data = memory.data() + begin;
      message.bytes = random.below(std::min<std::size_t>(bytes - begin, 30) + 1);
    };
    for (Outgoing& each : out) choose(each);
    for (Incoming& each : in) choose(each);
    bool expected = false;
    for (const Outgoing& from : out) {
      for (const Incoming& to : in) {
        for (std::size_t i = 0; i < from.bytes; ++i) {
          const std::byte* const at = static_cast<const std::byte*>(from.data) + i;
          const auto* const begin = static_cast<const std::byte*>(to.data);
          expected = expected || (at >= begin && at < begin + to.bytes);
        }
      }
    }
    overlapping += expected ? 1 : 0;
    ASSERT_EQ(overlap(out, in), expected) << "seed " << seed;
  }
  EXPECT_GT(overlapping, 500);
  EXPECT_LT(overlapping, 1500);
}

}  // namespace
}  // namespace tutti::test
