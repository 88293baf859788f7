#include "core/json.hpp"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "core/json_value.hpp"

namespace tutti {
namespace {

std::string complaint(const std::function<void()>& call) {
  try {
    call();
  } catch (const JsonError& error) {
    return error.what();
  }
  return "";
}

/// The error of a text that is rejected.
std::string complaint(const std::string& text) {
  return complaint([&] { (void)JsonReader::parse(text); });
}

TEST(Json, KeepsTheOrderOfMembersAndWritesNumbersAsTheyAre) {
  const std::string text =
      R"({"z":true,"a":[18446744073709551615,-9223372036854775808,1.0,0.1,1e+300],"m":null})";
  EXPECT_EQ(json_text(JsonReader::parse(text).json()), text);
  EXPECT_EQ(json_text({{"a", Json::array({1, Json::object()})}}, 1),
            "{\n \"a\": [\n  1,\n  {}\n ]\n}");
  EXPECT_EQ(json_number(-2.5e-7), "-2.5e-07");
}

TEST(Json, RefusesOrReplacesWhatIsNotUtf8) {
  EXPECT_EQ(json_string("a\"\n→"), "\"a\\\"\\n→\"");
  EXPECT_EQ(complaint([] {
              (void)json_string("\xff");
            }).rfind("names and other texts must be UTF-8: ", 0),
            0U);
  EXPECT_EQ(json_text("a\xff", -1, NotUtf8::replace), "\"a\xEF\xBF\xBD\"");
}

TEST(JsonReader, NamesTheLineOfASyntaxError) {
  EXPECT_EQ(complaint("{\n  \"a\": 1,\n  b\n}").rfind("line 3, column 3: this is not JSON: ", 0),
            0U);
  EXPECT_EQ(complaint("[\n1e999]"), "line 2: this is not JSON: number overflow parsing '1e999'");
  EXPECT_NE(complaint(""), "");
}

TEST(JsonReader, NamesTheLineAndThePathOfAValue) {
  const JsonReader json = JsonReader::parse(
      "{\n  \"links\": [\n    {\"to\": 1},\n    {\n     \"to\": \"b\", \"cost\": 7\n    }\n  ]\n}");
  const JsonReader link = json.at("links")[1];
  EXPECT_EQ(complaint([&] { link.reject("this is wrong"); }), "line 4, at /links/1: this is wrong");
  EXPECT_EQ(complaint([&] { link.at("cost").reject("too much"); }),
            "line 5, at /links/1/cost: too much");
  EXPECT_EQ(complaint([&] { (void)link.at("from"); }),
            "line 4, at /links/1: the member \"from\" is missing");
  EXPECT_EQ(complaint([&] { (void)json.at("links")[2]; }),
            "line 2, at /links: there is no element 2");
  EXPECT_EQ(complaint([&] {
              link.allow_only({"from", "to", "costs"});
            }),
            "line 5, at /links/1/cost: unknown member \"cost\". Did you mean 'costs'? "
            "Known are \"from\" \"to\" \"costs\"");
}

TEST(JsonReader, NamesNoLineInATextOfOneLine) {
  EXPECT_EQ(complaint([] { (void)JsonReader::parse("[1]").at("a"); }),
            "at /: expected an object in braces, not an array");
  EXPECT_EQ(complaint([] {
              (void)JsonReader(Json{{"a", 1}}).at("a").string();
            }),
            "at /a: expected a string, not 1");
}

TEST(JsonReader, GivesOnlyWhatAValueHolds) {
  EXPECT_EQ(JsonReader(7).get<std::uint8_t>(), 7);
  EXPECT_EQ(JsonReader(-7).get<std::int8_t>(), -7);
  EXPECT_EQ(JsonReader(7).get<double>(), 7);
  EXPECT_EQ(JsonReader(Json{1, 2}).get<std::vector<std::uint32_t>>(),
            (std::vector<std::uint32_t>{1, 2}));
  for (const Json& wrong : Json{-1, 256, 7.0, 0.5, 1e300, std::uint64_t{1} << 63, "7", true}) {
    EXPECT_EQ(complaint([&] { (void)JsonReader(wrong).get<std::uint8_t>(); }),
              "at /: expected a whole number from 0 to 255, not " + json_text(wrong));
  }
  for (const Json& wrong : Json{-129, 128, 0.5, std::uint64_t{1} << 63, nullptr}) {
    EXPECT_EQ(complaint([&] { (void)JsonReader(wrong).get<std::int8_t>(); }),
              "at /: expected a whole number from -128 to 127, not " + json_text(wrong));
  }
  EXPECT_EQ(complaint([] { (void)JsonReader("yes").get<bool>(); }),
            "at /: expected true or false, not \"yes\"");
  EXPECT_EQ(complaint([] { (void)JsonReader(Json()).get<double>(); }),
            "at /: expected a number, not null");
  EXPECT_EQ(complaint([] { (void)JsonReader(Json::object()).size(); }),
            "at /: expected a list in brackets, not an object");
}

TEST(JsonReader, FindsOptionalMembers) {
  const JsonReader json(Json{{"a", 1}});
  EXPECT_FALSE(json.find("b"));
  EXPECT_EQ(json.find("a")->get<int>(), 1);
  EXPECT_EQ(json.value("a", 0U), 1U);
  EXPECT_EQ(json.value("b", "none"), "none");
}

TEST(JsonReader, RejectsDuplicateMembers) {
  std::string many = "{";
  for (int i = 0; i < 50; ++i) many += "\"" + std::to_string(i) + "\": 0,\n";
  EXPECT_EQ(complaint(many + "\"7\": 0}"), "line 51: duplicate member \"7\"");
  EXPECT_EQ(complaint("{\"7\": 1,\n\"7\": 1}"), "line 2: duplicate member \"7\"");
  EXPECT_EQ(JsonReader::parse(many + "\"50\": 0}").members().size(), 51U);
}

TEST(JsonReader, RejectsDeepNesting) {
  const auto nested = [](std::size_t deep) {
    return std::string(deep, '[') + std::string(deep, ']');
  };
  EXPECT_EQ(complaint(nested(100)), "");
  EXPECT_EQ(complaint("\n" + nested(1'000'000)),
            "line 2: more than 100 nested brackets and braces: remove some levels");
}

}  // namespace
}  // namespace tutti
