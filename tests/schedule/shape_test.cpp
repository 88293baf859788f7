#include <gtest/gtest.h>

#include <tutti/shape.hpp>

#include "support/errors.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

TEST(Shape, RoundTrips) {
  for (const char* text : {"1", "8x4", "4x4x2", "1x1", "2147483647", "2x2x2x2x2x2x2x2"}) {
    EXPECT_EQ(to_string(parse_shape(text)), text);
  }
  EXPECT_EQ(parse_shape("8x4"), (Shape{{8, 4}}));
  EXPECT_EQ(to_string(Shape{}), "");
}

TEST(Shape, SizeIsTheProduct) {
  EXPECT_EQ(parse_shape("8x4x3").size(), 96);
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_TRUE(Shape{}.empty());
}

TEST(Shape, RejectsInvalidText) {
  for (const char* text : {"",
                           "x",
                           "8x",
                           "x8",
                           "8xx4",
                           "8X4",
                           "8x-4",
                           "0",
                           "8x0",
                           "8 x 4",
                           " 8",
                           "8x4 ",
                           "8.0",
                           "+8",
                           "1e3",
                           "8,4",
                           "4294967296",
                           "99999999999999999999",
                           "65536x65536",
                           "2147483648",
                           "1x1x1x1x1x1x1x1x1"}) {
    expect_error([text] { (void)parse_shape(text); }, ErrorCode::invalid_argument,
                 "'" + std::string(text) + "' is not a shape");
  }
}

TEST(Shape, StaysWithinTheGivenText) {
  EXPECT_EQ(parse_shape(std::string_view("8x42").substr(0, 3)), (Shape{{8, 4}}));
}

TEST(Squarest, IsTheShapeNearestToASquare) {
  EXPECT_EQ(to_string(squarest(12)), "4x3");
  EXPECT_EQ(to_string(squarest(7)), "7x1");
  EXPECT_EQ(to_string(squarest(16)), "4x4");
  EXPECT_EQ(to_string(squarest(1)), "1x1");
  EXPECT_EQ(to_string(squarest(2147483647)), "2147483647x1");
  for (std::uint32_t p = 1; p <= 200; ++p) {
    const Shape best = squarest(p);
    ASSERT_EQ(best.dimensions.size(), 2);
    EXPECT_EQ(best.size(), p);
    for (const Shape& other : shapes(p, 2)) {
      if (other.dimensions[0] < other.dimensions[1]) continue;
      EXPECT_LE(best.dimensions[0], other.dimensions[0]) << p;
    }
  }
}

}  // namespace
}  // namespace tutti::test
