#include "core/shortened.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

constexpr std::size_t most = 64;
const std::string note = "… (100 bytes in all)";

TEST(Shortened, KeepsShortText) {
  EXPECT_EQ(shortened("the disk is full"), "the disk is full");
  EXPECT_EQ(shortened(std::string(most, 'x'), most), std::string(most, 'x'));
}

TEST(Shortened, StatesTheOriginalLength) {
  const std::string cut = shortened(std::string(100, 'x'), most);
  EXPECT_EQ(cut, std::string(most - note.size(), 'x') + note);
  EXPECT_EQ(shortened(cut, most), cut);
  EXPECT_EQ(shortened(std::string(200'000'000, 'x')).size(), most_words);
}

TEST(Shortened, KeepsCharactersWhole) {
  const std::size_t room = most - note.size();
  for (const std::string character : {"ö", "…", "😀"}) {
    for (std::size_t before = 1; before <= character.size(); ++before) {
      const std::string plain(room - before, 'x');
      std::string words = plain + character;
      words.resize(100, 'y');
      const bool fits = before == character.size();
      EXPECT_EQ(shortened(words, most), plain + (fits ? character : "") + note);
    }
  }
}

TEST(Shortened, CutsInvalidUtf8) {
  const std::string cut = shortened(std::string(100, '\x80'), most);
  EXPECT_LE(cut.size(), most);
  EXPECT_GT(cut.size(), most - 8);
}

}  // namespace
}  // namespace tutti::test
