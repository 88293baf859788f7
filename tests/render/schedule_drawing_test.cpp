#include "render/schedule_drawing.hpp"

#include <gtest/gtest.h>

#include "render/schedule_page.hpp"
#include "support/draft.hpp"
#include "support/drawing.hpp"
#include "support/errors.hpp"
#include "support/golden.hpp"
#include "support/problems.hpp"

namespace tutti::render {
namespace {

using test::fault_in_drawing;

Storyboard story_of(const std::string& name, const Problem& problem) {
  return storyboard(algorithm(name).schedule(problem));
}

std::string drawing(const Storyboard& story, const std::string& title) {
  return draw_schedule(story, {.title = title, .lines = {"A line below the title."}},
                       usual_rounds(story.rounds()));
}

TEST(Storyboard, RecordsHeldNewAndComplete) {
  const Storyboard story = story_of("allreduce/ring", {.ranks = 3});
  ASSERT_EQ(story.rounds(), 4);
  EXPECT_EQ(story.holdings[0][1][0], (Holding{.ranks = 0b010}));
  ASSERT_EQ(story.messages[0].size(), 3);
  const Message& first = story.messages[0][0];
  EXPECT_TRUE(first.adds);
  const Holding& grown = story.holdings[1][first.to][first.chunks.at(0).first.index()];
  EXPECT_EQ(grown.ranks, 1U << first.from | 1U << first.to);
  EXPECT_EQ(grown.fresh, 1U << first.from);
  for (const auto& rank : story.holdings[4]) {
    for (const Holding& held : rank) EXPECT_TRUE(held.complete);
  }
}

TEST(Storyboard, RejectsDrawingsThatAreTooLarge) {
  test::expect_error([] { (void)story_of("allreduce/ring", {.ranks = 17}); },
                     ErrorCode::unsupported, "use -p 16 or fewer");
}

TEST(Storyboard, RejectsAWrongScheduleWithTheReason) {
  test::Draft wrong = test::draft(algorithm("broadcast/chain").schedule({.ranks = 3}));
  wrong.programs[2].clear();
  test::expect_error([&] { (void)storyboard(test::schedule(wrong)); }, ErrorCode::invalid_argument,
                     "unmatched");
}

TEST(ScheduleDrawing, ShowsAllOfFewRoundsAndSomeOfManyRounds) {
  EXPECT_EQ(usual_rounds(2), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(usual_rounds(11).size(), 12);
  EXPECT_EQ(usual_rounds(30), (std::vector<std::uint32_t>{0, 1, 2, 3, 14, 15, 16, 27, 28, 29, 30}));
}

TEST(ScheduleDrawing, RejectsARoundOutOfRange) {
  const Storyboard story = story_of("allreduce/ring", {.ranks = 3});
  test::expect_error([&] { (void)draw_schedule(story, {.title = "ring"}, {5}); },
                     ErrorCode::invalid_argument, "there is no round 5: 'ring' has 4");
}

class EveryDrawing : public testing::TestWithParam<const Algorithm*> {};

TEST_P(EveryDrawing, TextsNeverOverlapNorLeaveThePage) {
  const Algorithm& algorithm = *GetParam();
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 16U}) {
    std::vector<Problem> drawable = test::problems(algorithm, ranks);
    constexpr std::uint64_t most_chunks = 64;
    std::erase_if(drawable, [&](const Problem& each) {
      const bool pairs = algorithm.collective == Collective::alltoall;
      return !pairs && algorithm.chunk_count(each) > most_chunks;
    });
    ASSERT_FALSE(drawable.empty());
    const Problem& problem = drawable.back();
    SCOPED_TRACE(test::words(problem));
    const Storyboard story = storyboard(algorithm.schedule(problem));
    const std::string svg = drawing(story, std::string(algorithm.name));
    EXPECT_EQ(fault_in_drawing(svg), "");
  }
}

TEST_P(EveryDrawing, PagesFetchNothing) {
  const Algorithm& algorithm = *GetParam();
  const Storyboard story = storyboard(algorithm.schedule(test::small_problem(algorithm)));
  std::string page = schedule_page(story, {.title = "</script> & co"});
  EXPECT_EQ(page.find("</script> & co"), std::string::npos);
  // The only address is the XML namespace of SVG, which is never fetched.
  const std::string language = "http://www.w3.org/2000/svg";
  for (std::size_t at = page.find(language); at != std::string::npos; at = page.find(language)) {
    page.erase(at, language.size());
  }
  for (const std::string way : {"://", "src=", "href=", "@import", "url("}) {
    EXPECT_EQ(page.find(way), std::string::npos) << way;
  }
}

TEST_P(EveryDrawing, Golden) {
  const Algorithm& algorithm = *GetParam();
  Problem problem = test::small_problem(algorithm);
  if (!algorithm.needs_shape()) problem.ranks = 3;
  const Storyboard story = storyboard(algorithm.schedule(problem));
  test::expect_golden("render/" + std::string(algorithm.name) + ".svg",
                      drawing(story, std::string(algorithm.name)));
}

std::string name_of(const testing::TestParamInfo<const Algorithm*>& parameter) {
  return test::test_name(*parameter.param);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryDrawing, testing::ValuesIn(test::every_algorithm()), name_of);

}  // namespace
}  // namespace tutti::render
