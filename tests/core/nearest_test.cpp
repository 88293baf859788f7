#include "core/nearest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::array<std::string_view, 5> instruments{"violin", "viola", "cello", "oboe", "tuba"};

TEST(Nearest, FindsTheWordItself) {
  for (const std::string_view each : instruments) EXPECT_EQ(nearest(each, instruments), each);
}

TEST(Nearest, ForgivesASlip) {
  EXPECT_EQ(nearest("violn", instruments), "violin");   // A letter is missing,
  EXPECT_EQ(nearest("celllo", instruments), "cello");   // one is too many,
  EXPECT_EQ(nearest("vkolin", instruments), "violin");  // one is another,
  EXPECT_EQ(nearest("tbua", instruments), "tuba");      // two have changed places,
  EXPECT_EQ(nearest("ivoiln", instruments), "violin");  // and so twice.
}

TEST(Nearest, TakesTheOneWithTheFewestEdits) { EXPECT_EQ(nearest("viol", instruments), "viola"); }

TEST(Nearest, TakesTheFirstOfThoseEquallyNear) {
  constexpr std::array<std::string_view, 2> turned{"viola", "violin"};
  EXPECT_EQ(nearest("violi", instruments), "violin");
  EXPECT_EQ(nearest("violi", turned), "viola");
}

TEST(Nearest, GivesNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest("timpani", instruments), "");
  EXPECT_EQ(nearest("x", instruments), "");
  EXPECT_EQ(nearest("", instruments), "");
  EXPECT_EQ(nearest("violin", {}), "");
}

TEST(Nearest, IsNotLookedForAmongTextsWithoutEnd) {
  // As long as a file may be: to compare them letter by letter would take hours.
  const std::string endless(4 << 20, 'v');
  const std::string other = endless + "w";
  const std::array<std::string_view, 2> candidates{other, "viola"};
  EXPECT_EQ(nearest(endless, candidates), "");
  EXPECT_EQ(nearest("violi", candidates), "viola");
}

TEST(DidYouMean, IsReadyToBeAddedToAMessage) {
  EXPECT_EQ(did_you_mean("chello", instruments), " Did you mean 'cello'?");
  EXPECT_EQ(did_you_mean("trumpet", instruments), "");
}

}  // namespace
}  // namespace tutti
