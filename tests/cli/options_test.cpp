#include "cli/console/options.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

using cli::parse_ranges;
using Numbers = std::vector<std::uint32_t>;

TEST(Ranges, AreListsOfNumbers) {
  EXPECT_EQ(parse_ranges("8"), Numbers{8});
  EXPECT_EQ(parse_ranges("2,4-6,1"), (Numbers{2, 4, 5, 6, 1}));
}

TEST(Ranges, AreLimitedInLength) {
  for (const std::string text : {"", "0", "3-2", "1,", "x"}) {
    expect_error([&] { (void)parse_ranges(text); }, ErrorCode::invalid_argument,
                 "'" + text + "' is not a list");
  }
  for (const std::string text : {"1-16777217", "1-9999999,1-9999999"}) {
    expect_error([&] { (void)parse_ranges(text); }, ErrorCode::invalid_argument,
                 "more than 16777216");
  }
}

}  // namespace
}  // namespace tutti::test
