#include "core/json.hpp"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

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

TEST(Json, BracesMakeObjectsAndArrays) {
  const std::vector<std::uint32_t> ranks{1, 2};
  const Json json{{"rank", 3}, {"host", "a"}, {"ranks", ranks}, {"link", {{"alpha", 0.5}}}};
  EXPECT_EQ(json.dump(), R"({"rank":3,"host":"a","ranks":[1,2],"link":{"alpha":0.5}})");
  Json rows = Json::array();
  rows.push_back({{"one", 1}});
  rows.push_back({std::string("one"), 1});
  rows.push_back({Json{"a", "b"}});
  EXPECT_EQ(rows.dump(), R"([{"one":1},["one",1],{"a":"b"}])");
}

TEST(Json, KeepsTheOrderOfMembers) {
  Json json;
  json["z"] = 1;
  json["a"] = nullptr;
  json["z"] = true;
  json.add("m", Json::array());
  json.update({{"a", 2}, {"b", 3}});
  EXPECT_EQ(json.dump(), R"({"z":true,"a":2,"m":[],"b":3})");
  EXPECT_EQ(Json::parse(R"({"b": 1, "a": 2, "b": 3})").dump(), R"({"b":3,"a":2})");
}

TEST(Json, IndentsAsFilesHaveIt) {
  const Json json{{"a", Json::array({1, Json::array(), Json::object()})}, {"b", {{"c", "d"}}}};
  EXPECT_EQ(json.dump(1), "{\n \"a\": [\n  1,\n  [],\n  {}\n ],\n \"b\": {\n  \"c\": \"d\"\n }\n}");
}

TEST(Json, WritesNumbersAsTheyAre) {
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).dump(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).dump(), "-9223372036854775808");
  EXPECT_EQ(Json({1.0, 0.1, 1e300, -2.5e-7}).dump(), "[1.0,0.1,1e+300,-2.5e-07]");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
}

TEST(Json, EscapesStrings) {
  EXPECT_EQ(Json("a\"\\\n\x01→").dump(), "\"a\\\"\\\\\\n\\u0001→\"");
  EXPECT_NE(complaint([] { (void)Json("\xff").dump(); }).find("invalid UTF-8 byte"),
            std::string::npos);
  EXPECT_EQ(Json("a\xff").dump(-1, Json::NotUtf8::replace), "\"a\xEF\xBF\xBD\"");
}

TEST(Json, ReadsWhatItWrites) {
  const std::string text = R"([null,true,-1,18446744073709551615,1.5,"a\nb",{"k":[]},[[1]]])";
  const Json json = Json::parse(text);
  EXPECT_EQ(json.dump(), text);
  EXPECT_EQ(Json::parse(json.dump(2)), json);
  EXPECT_TRUE(json[0].is_null() && json[1].is_boolean() && json[2].is_number_integer());
  EXPECT_TRUE(json[3].is_number_unsigned() && !json[2].is_number_unsigned());
  EXPECT_TRUE(json[4].is_number() && !json[4].is_number_integer() && json[5].is_string());
}

TEST(Json, NamesTheLineOfAnError) {
  const std::string words = complaint([] { (void)Json::parse("{\n  \"a\": 1,\n  b\n}"); });
  EXPECT_NE(words.find("at line 3, column 3"), std::string::npos) << words;
  EXPECT_NE(complaint([] { (void)Json::parse("1e999"); }).find("number overflow"),
            std::string::npos);
  EXPECT_FALSE(Json::try_parse("{"));
  EXPECT_EQ(Json::try_parse("[1]"), Json::array({1}));
}

TEST(Json, NestsAsDeeplyAsTheTextDoes) {
  constexpr std::size_t deep = 1'000'000;
  const auto closed = Json::try_parse(std::string(deep, '[') + std::string(deep, ']'));
  EXPECT_TRUE(closed && closed->is_array());
  EXPECT_FALSE(Json::try_parse(std::string(deep, '[')));
}

TEST(Json, RefusesMembersThatStandTwiceWhereAsked) {
  std::string many = "{";
  for (int i = 0; i < 50; ++i) many += "\"" + std::to_string(i) + "\": " + std::to_string(i) + ",";
  const Json read = Json::parse(many + "\"7\": 0}");
  EXPECT_EQ(read.size(), 50U);
  EXPECT_EQ(read.at("7"), 0);
  for (const std::string& text : {many + "\"7\": 0}", std::string("{\"7\": 1, \"7\": 1}")}) {
    EXPECT_EQ(complaint([&] { (void)Json::parse(text, Json::Duplicates::refuse); }),
              "an object has the member \"7\" twice");
  }
}

TEST(Json, LooksUpMembersAndElements) {
  const Json json{{"a", 1}, {"list", {1, 2}}};
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_EQ(*json.find("a"), 1);
  EXPECT_EQ(json.at("list").at(1), 2);
  EXPECT_EQ(json.value("a", std::uint64_t{0}), 1U);
  EXPECT_EQ(json.value("b", "none"), "none");
  EXPECT_EQ(complaint([&] { (void)json.at("b"); }),
            "[json.exception.out_of_range.403] key 'b' not found");
  EXPECT_EQ(complaint([&] { (void)json.at("list").at(2); }),
            "[json.exception.out_of_range.401] array index 2 is out of range");
  EXPECT_EQ(complaint([&] { (void)json.at("a").at("b"); }),
            "[json.exception.type_error.304] cannot use at() with number");
  EXPECT_EQ(complaint([&] { (void)json.begin(); }),
            "[json.exception.type_error.302] type must be array, but is object");
}

TEST(Json, GivesOnlyWhatItHolds) {
  EXPECT_EQ(Json(7).get<std::uint8_t>(), 7);
  EXPECT_EQ(Json(7).get<double>(), 7);
  EXPECT_EQ(Json::parse("7.0").get<int>(), 7);
  EXPECT_EQ(Json({1, 2}).get<std::vector<std::uint32_t>>(), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(complaint([] { (void)Json("7").get<int>(); }),
            "[json.exception.type_error.302] type must be number, but is string");
  EXPECT_EQ(complaint([] { (void)Json(7).get<std::string>(); }),
            "[json.exception.type_error.302] type must be string, but is number");
  for (const Json& wrong : Json{-1, 256, 0.5, 1e300, std::uint64_t{1} << 63}) {
    EXPECT_NE(complaint([&] { (void)wrong.get<std::uint8_t>(); }), "") << wrong;
  }
  EXPECT_NE(complaint([] { (void)Json(std::uint64_t{1} << 63).get<std::int64_t>(); }), "");
}

TEST(Json, ComparesNumbersByValue) {
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_EQ(Json(17.0), 17);
  EXPECT_NE(Json(-1), Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json("1"), Json(1));
}

}  // namespace
}  // namespace tutti
