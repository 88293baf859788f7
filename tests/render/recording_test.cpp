#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "render/recording_drawing.hpp"
#include "support/drawing.hpp"
#include "support/errors.hpp"

namespace tutti::render {
namespace {

using test::expect_error;
using test::fault_in_drawing;

const std::string two_rows = R"({"traceEvents": [
  {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "rank 1"}},
  {"ph": "X", "name": "a", "cat": "forward", "pid": 0, "tid": 3, "ts": 1000, "dur": 500},
  {"ph": "X", "name": "b", "cat": "backward", "pid": 0, "tid": 7, "ts": 1500, "dur": 1000},
  {"ph": "X", "name": "", "cat": "bubble", "pid": 0, "tid": 7, "ts": 1000, "dur": 500},
  {"ph": "C", "name": "ignored", "pid": 0, "ts": 1},
  {"ph": "s", "cat": "m", "id": 1, "pid": 0, "tid": 3, "ts": 1500},
  {"ph": "f", "cat": "m", "id": 1, "pid": 0, "tid": 7, "ts": 1500},
  {"ph": "s", "cat": "m", "id": 2, "pid": 0, "tid": 3, "ts": 1500}],
 "otherData": {"title": "two ranks", "notes": ["a line"]}})";

TEST(Recording, ReadsSpansArrowsAndNames) {
  const Recording trace = parse_recording(two_rows);
  EXPECT_EQ(trace.caption.title, "two ranks");
  EXPECT_EQ(trace.caption.lines, std::vector<std::string>{"a line"});
  EXPECT_EQ(trace.rows, (std::vector<std::string>{"0/3", "rank 1"}));
  ASSERT_EQ(trace.spans.size(), 3U);
  EXPECT_EQ(trace.spans[1].row, 1U);
  EXPECT_EQ(trace.spans[1].kind, "backward");
  EXPECT_NEAR(trace.spans[1].begin, 0.5e-3, 1e-12) << "the trace begins with its first span";
  EXPECT_NEAR(trace.spans[1].end, 1.5e-3, 1e-12);
  ASSERT_EQ(trace.arrows.size(), 1U) << "an arrow without an end is left out";
  EXPECT_EQ(trace.arrows[0].from_row, 0U);
  EXPECT_EQ(trace.arrows[0].to_row, 1U);
}

TEST(Recording, AlsoAnArrayWithoutNames) {
  const Recording trace = parse_recording(R"([{"ph":"X","name":"a","ts":0,"dur":1}])");
  EXPECT_EQ(trace.caption.title, "trace");
  EXPECT_EQ(trace.rows, std::vector<std::string>{"0/0"});
  EXPECT_EQ(trace.spans[0].kind, "a") << "a span without a category is a kind of its own";
}

TEST(Recording, RefusesOtherTexts) {
  const auto refuse = [](const char* text, const char* words) {
    expect_error([&] { (void)parse_recording(text); }, ErrorCode::invalid_argument, words);
  };
  refuse("nonsense", "the trace cannot be read");
  refuse("{}", "traceEvents");
  refuse("[]", "no spans");
  refuse(R"([{"ph":"M"},{"ph":"X","name":"a","ts":0}])",
         "the trace cannot be read: at /1: the member \"dur\" is missing");
  refuse(R"([{"ph":"X","name":"a","ts":0,"dur":-1}])", "at /0/dur: the duration is negative");
  refuse(R"([{"ph":"X","name":"a","ts":"soon","dur":1}])",
         "at /0/ts: expected a number, not \"soon\"");
}

TEST(RecordingDrawing, ShowsRowsKindsAndNames) {
  const std::string svg = draw_recording(parse_recording(two_rows));
  EXPECT_EQ(fault_in_drawing(svg), "");
  std::string all;
  for (const test::TextBox& box : test::text_boxes(svg)) all += box.words + "|";
  for (const char* words : {"two ranks|", "a line|", "0/3|", "rank 1|", "forward|", "backward|",
                            "bubble|", "message|", "a|", "b|", "1.4 ms|"}) {
    EXPECT_NE(all.find(words), std::string::npos) << words << " in " << all;
  }
}

TEST(RecordingDrawing, SpansThatOverlapHaveTheirOwnLanes) {
  Recording trace{.caption = {.title = "lanes"}, .rows = {"one"}};
  trace.spans = {{.name = "long", .kind = "k", .begin = 0, .end = 3},
                 {.name = "first", .kind = "k", .begin = 0, .end = 1},
                 {.name = "second", .kind = "k", .begin = 1, .end = 3}};
  EXPECT_EQ(fault_in_drawing(draw_recording(trace)), "");
  std::vector<double> tops;
  for (const test::TextBox& box : test::text_boxes(draw_recording(trace))) {
    if (box.words == "long" || box.words == "first" || box.words == "second") {
      tops.push_back(box.top);
    }
  }
  ASSERT_EQ(tops.size(), 3U);
  EXPECT_LT(tops[0], tops[1]);
  EXPECT_EQ(tops[1], tops[2]) << "consecutive spans share a lane";
}

TEST(RecordingDrawing, RefusesTooManyRows) {
  Recording trace{.rows = std::vector<std::string>(65, "r")};
  trace.spans = {{.kind = "k", .end = 1}};
  expect_error([&] { (void)draw_recording(trace); }, ErrorCode::unsupported, "65 rows");
}

}  // namespace
}  // namespace tutti::render
