#include "core/decimal.hpp"

#include <bit>
#include <charconv>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(Decimal, CLibraryMatchesTheStandardLibrary) {
  for (const std::string text : {"0",
                                 "-0",
                                 "1",
                                 "-1",
                                 "12.5",
                                 "12.5KiB",
                                 ".5",
                                 "5.",
                                 "-.25e-3",
                                 "1e400",
                                 "-1e400",
                                 "1e-400",
                                 "0e-400",
                                 "0.0",
                                 "4.9e-324",
                                 "2e-324",
                                 "1e",
                                 "1e+",
                                 "1e+5",
                                 "1.5e3x",
                                 "inf",
                                 "-inf",
                                 "infinity",
                                 "nan",
                                 "+1",
                                 " 1",
                                 "",
                                 "-",
                                 "--1",
                                 ".",
                                 "-.",
                                 "e5",
                                 "x",
                                 "0x10",
                                 "-0x1p3",
                                 "0x",
                                 "1,5",
                                 "1 2",
                                 "0.1",
                                 "123456789012345678901234567890",
                                 "1.7976931348623157e308",
                                 "i",
                                 "n",
                                 "-+1",
                                 "- 1"}) {
    double expected = 42;
    double found = 42;
    const char* const first = text.data();
    const char* const last = first + text.size();
    const auto by_library = read_decimal(first, last, expected);
    const auto in_c = read_decimal_in_c(first, last, found);
    EXPECT_EQ(in_c.ec, by_library.ec) << text;
    EXPECT_EQ(in_c.ptr - first, by_library.ptr - first) << text;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(expected)) << text;
  }
}

TEST(Decimal, StopsAtTheEnd) {
  const std::string text = "12345";
  double number = 0;
  const auto read = read_decimal_in_c(text.data(), text.data() + 2, number);
  EXPECT_EQ(number, 12);
  EXPECT_EQ(read.ptr, text.data() + 2);
}

}  // namespace
}  // namespace tutti::test
