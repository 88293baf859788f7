#include <array>
#include <limits>

#include <gtest/gtest.h>

#include <tutti/schedule/symbols.hpp>

namespace tutti::test {
namespace {

class SymbolsTest : public testing::Test {
 protected:
  Symbol fold(std::initializer_list<Symbol> operands) {
    return symbols_.fold(std::span(operands.begin(), operands.size()));
  }

  Symbols symbols_;
  Symbol a_ = symbols_.contribution(Rank{0}, Chunk{4});
  Symbol b_ = symbols_.contribution(Rank{1}, Chunk{4});
  Symbol c_ = symbols_.contribution(Rank{2}, Chunk{4});
};

TEST_F(SymbolsTest, ContributionsKeepRankAndChunk) {
  EXPECT_TRUE(symbols_.is_contribution(b_));
  EXPECT_EQ(symbols_.rank(b_), Rank{1});
  EXPECT_EQ(symbols_.chunk(b_), Chunk{4});
  EXPECT_TRUE(symbols_.operands(b_).empty());
  EXPECT_FALSE(symbols_.is_contribution(Symbols::nothing));
}

TEST_F(SymbolsTest, EqualFoldsAreOneSymbol) {
  EXPECT_EQ(fold({a_, b_}), fold({a_, b_}));
  EXPECT_EQ(fold({fold({a_, b_}), c_}), fold({fold({a_, b_}), c_}));
}

TEST_F(SymbolsTest, OrderAndBracketsMatter) {
  EXPECT_NE(fold({a_, b_}), fold({b_, a_}));
  EXPECT_NE(fold({a_, b_, c_}), fold({fold({a_, b_}), c_}));
  EXPECT_NE(fold({fold({a_, b_}), c_}), fold({a_, fold({b_, c_})}));
}

TEST_F(SymbolsTest, StayEqualWhileTheirTableGrows) {
  Symbol first = fold({a_, b_});
  Symbol sum = a_;
  for (int i = 0; i < 5000; ++i) sum = fold({sum, b_});
  Symbol again = a_;
  for (int i = 0; i < 5000; ++i) again = fold({again, b_});
  EXPECT_EQ(again, sum);
  EXPECT_EQ(fold({a_, b_}), first);
  EXPECT_EQ(symbols_.contributions(sum), 5001);
}

TEST_F(SymbolsTest, LeavesComeFromLeftToRight) {
  const Symbol sum = fold({fold({c_, a_}), b_, a_});
  EXPECT_EQ(symbols_.leaves(sum, 100), (std::vector{c_, a_, b_, a_}));
  EXPECT_EQ(symbols_.leaves(sum, 2), (std::vector{c_, a_}));
  EXPECT_EQ(symbols_.contributions(sum), 4);
}

TEST_F(SymbolsTest, ContributionCountSaturates) {
  Symbol sum = a_;
  for (int i = 0; i < 70; ++i) sum = fold({sum, sum});
  EXPECT_EQ(symbols_.contributions(sum), std::numeric_limits<std::uint64_t>::max());
}

TEST_F(SymbolsTest, AreFormattedAsText) {
  EXPECT_EQ(to_string(symbols_, Symbols::nothing), "-");
  EXPECT_EQ(to_string(symbols_, a_), "a4");
  EXPECT_EQ(to_string(symbols_, fold({a_, fold({b_, c_})})), "a4+(b4+c4)");
  EXPECT_EQ(contribution_name(Rank{25}, Chunk{0}), "z0");
  EXPECT_EQ(contribution_name(Rank{30}, Chunk{2}), "x30.2");
}

}  // namespace
}  // namespace tutti::test
