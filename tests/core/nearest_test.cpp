#include "core/nearest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::array<std::string_view, 5> instruments{"violin", "viola", "cello", "oboe", "tuba"};

TEST(Nearest, FindsAnExactMatch) {
  for (const std::string_view each : instruments) EXPECT_EQ(nearest(each, instruments), each);
}

TEST(Nearest, FindsMisspelledWords) {
  EXPECT_EQ(nearest("violn", instruments), "violin");   // One letter missing.
  EXPECT_EQ(nearest("celllo", instruments), "cello");   // One letter too many.
  EXPECT_EQ(nearest("vkolin", instruments), "violin");  // One letter replaced.
  EXPECT_EQ(nearest("tbua", instruments), "tuba");      // Two letters swapped.
  EXPECT_EQ(nearest("ivoiln", instruments), "violin");  // Two swaps.
}

TEST(Nearest, PrefersTheFewestEdits) { EXPECT_EQ(nearest("viol", instruments), "viola"); }

TEST(Nearest, PrefersTheFirstOfEquals) {
  constexpr std::array<std::string_view, 2> turned{"viola", "violin"};
  EXPECT_EQ(nearest("violi", instruments), "violin");
  EXPECT_EQ(nearest("violi", turned), "viola");
}

TEST(Nearest, ReturnsNothingIfNothingIsClose) {
  EXPECT_EQ(nearest("timpani", instruments), "");
  EXPECT_EQ(nearest("x", instruments), "");
  EXPECT_EQ(nearest("", instruments), "");
  EXPECT_EQ(nearest("violin", {}), "");
}

TEST(Nearest, IgnoresVeryLongTexts) {
  // As long as a file may be: comparing them would take hours.
  const std::string endless(4 << 20, 'v');
  const std::string other = endless + "w";
  const std::array<std::string_view, 2> candidates{other, "viola"};
  EXPECT_EQ(nearest(endless, candidates), "");
  EXPECT_EQ(nearest("violi", candidates), "viola");
}

TEST(DidYouMean, CanBeAppendedToAMessage) {
  EXPECT_EQ(did_you_mean("chello", instruments), " Did you mean 'cello'?");
  EXPECT_EQ(did_you_mean("trumpet", instruments), "");
}

}  // namespace
}  // namespace tutti
