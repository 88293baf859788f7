#include "core/packed_texts.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

TEST(PackedTexts, RoundTrip) {
  const std::vector<std::string> texts{"", "hello", std::string("\0\xff:3:", 5), "12"};
  EXPECT_EQ(unpack(pack(texts)), texts);
  EXPECT_EQ(unpack(""), std::vector<std::string>{});
}

TEST(PackedTexts, RejectsMalformedInput) {
  for (const char* const text : {"x", "3", "3:ab", "-1:a", "99999999999999999999:a", "1:ab"}) {
    EXPECT_EQ(unpack(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tutti::test
