#include "render/story.hpp"

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>

namespace tutti::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Story, ShowsMessagesAndHoldingsOfEachRound) {
  const Schedule schedule = algorithm("reduce/binomial").schedule({.ranks = 3});
  const std::string text =
      render::story(schedule, {.summary = "a tree", .order = "up the tree"}, render::Paint(false));
  EXPECT_TRUE(text.starts_with("reduce/binomial: a tree\n3 ranks, 1 chunk, 2 rounds, root 0\n"))
      << text;
  EXPECT_TRUE(contains(text, "\nround 2 of 2\n")) << text;
  EXPECT_TRUE(contains(text, "1 → 0: 0+")) << text;
  EXPECT_TRUE(contains(text, "Σ0")) << text;
  EXPECT_TRUE(contains(text, "\nProved: ")) << text;
  EXPECT_TRUE(contains(text, "It adds up the tree:\n  Σ0 = ")) << text;
  EXPECT_FALSE(contains(text, "\033")) << text;
}

TEST(Story, NamesTheCollectiveOfAScheduleWithoutAlgorithm) {
  const Schedule schedule = algorithm("broadcast/flat").schedule({.ranks = 2});
  const std::string text = render::story(schedule, {}, render::Paint(true));
  EXPECT_TRUE(contains(text, ": broadcast\n")) << text;
  EXPECT_TRUE(contains(text, "\033[1mround 1 of 1\033[0m")) << text;
}

TEST(Story, LeavesOutTablesThatAreTooLarge) {
  const Schedule schedule = algorithm("allreduce/ring").schedule({.ranks = 30});
  const std::string text = render::story(schedule, {}, render::Paint(false));
  EXPECT_TRUE(contains(text, "only the messages follow")) << text.substr(0, 500);
  EXPECT_FALSE(contains(text, "\nchunk 0")) << text.substr(0, 500);
}

}  // namespace
}  // namespace tutti::test
