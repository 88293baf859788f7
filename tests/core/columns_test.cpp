#include "core/columns.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(Columns, CountCharactersAndNotBytes) {
  EXPECT_EQ(width("Σ0 → α"), 6);
  EXPECT_EQ(pad_left("Σ", 3), "  Σ");
  EXPECT_EQ(pad_right("Σ", 3), "Σ  ");
  EXPECT_EQ(pad_left("long", 2), "long");
}

}  // namespace
}  // namespace tutti::test
