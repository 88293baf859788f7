#include "render/svg.hpp"

#include <gtest/gtest.h>

#include "support/drawing.hpp"

namespace tutti::render {
namespace {

using test::fault_in_drawing;

TEST(Svg, FormatsNumbers) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(-0.001), "0");
  EXPECT_EQ(number(12), "12");
  EXPECT_EQ(number(1.5), "1.5");
  EXPECT_EQ(number(-2.256), "-2.26");
  EXPECT_EQ(number(1200), "1200");
}

TEST(Svg, EscapesXml) {
  EXPECT_EQ(escaped("a<b>&\"c\"\n"), "a&lt;b&gt;&amp;&quot;c&quot; ");
  EXPECT_EQ(escaped("α\x01β"), "αβ");
}

TEST(Svg, IsWellFormedForAnyText) {
  Svg svg(200, 60, "a < b & c", "\"quoted\"");
  svg.text({10, 30}, "x < y & z > \"w\"", {});
  svg.begin("g", {{"class", "odd \"name\""}});
  svg.tooltip("1 < 2");
  svg.end();
  EXPECT_EQ(fault_in_drawing(svg.document()), "");
  EXPECT_EQ(test::text_boxes(svg.document()).at(0).words, "x < y & z > \"w\"");
}

TEST(Svg, ContainsOnlyTheRulesInUse) {
  Svg svg(10, 10, "t", "d");
  svg.circle({5, 5}, 2, "series-1 thin");
  const std::string document = svg.document();
  EXPECT_NE(document.find(".series-1{fill:"), std::string::npos);
  EXPECT_NE(document.find(".thin{"), std::string::npos);
  EXPECT_EQ(document.find(".series-2{"), std::string::npos);
  EXPECT_NE(document.find("@media(prefers-color-scheme:dark){.paper{"), std::string::npos);
}

TEST(Svg, TruncatesAndWrapsText) {
  EXPECT_EQ(fitted("short", 10, 100), "short");
  const std::string cut = fitted("αβγδεζηθικλμνξοπρστυ", 10, 60);
  EXPECT_LE(text_width(cut, 10), 60);
  EXPECT_EQ(cut.substr(cut.size() - 3), "…");
  const std::vector<std::string> lines = wrapped("some words  that need several lines", 10, 80);
  EXPECT_GT(lines.size(), 2);
  for (const std::string& line : lines) EXPECT_LE(text_width(line, 10), 80);
  EXPECT_TRUE(wrapped("", 10, 80).empty());
}

TEST(Drawing, FaultsAreDetected) {
  Svg svg(100, 40, "t", "d");
  svg.text({5, 20}, "one", {});
  svg.text({15, 24}, "two", {});
  EXPECT_EQ(fault_in_drawing(svg.document()), "'one' and 'two' overlap");
  Svg narrow(20, 40, "t", "d");
  narrow.text({5, 20}, "wide", {});
  EXPECT_EQ(fault_in_drawing(narrow.document()), "'wide' leaves the paper");
  EXPECT_NE(fault_in_drawing("<svg><g></svg>"), "");
  EXPECT_NE(fault_in_drawing("<svg><title>t</title><image href=\"http://x/y\"/></svg>"), "");
}

}  // namespace
}  // namespace tutti::render
