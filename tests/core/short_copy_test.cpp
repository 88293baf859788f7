#include "core/short_copy.hpp"

#include <array>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(ShortCopy, CopiesEveryLengthAndNothingElse) {
  for (std::size_t bytes = 0; bytes <= longest_short_copy; ++bytes) {
    std::array<unsigned char, longest_short_copy> from{};
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i + 1);
    std::array<unsigned char, longest_short_copy + 2> to{};
    short_copy(to.data() + 1, from.data(), bytes);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const bool is_inside = i >= 1 && i <= bytes;
      EXPECT_EQ(to[i], is_inside ? from[i - 1] : 0) << bytes << " bytes, at " << i;
    }
  }
}

}  // namespace
}  // namespace tutti::test
