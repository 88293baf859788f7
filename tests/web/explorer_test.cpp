#include "web/facade/explorer.hpp"

#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/command.hpp"

namespace tutti::web {
namespace {

Json ask(Explorer& explorer, const std::string& question, const Json& arguments) {
  return Json::parse(explorer.answer(question, arguments.dump()));
}

Json command(const std::string& line) {
  const test::Outcome outcome = test::tutti(line);
  EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.err;
  return Json::parse(outcome.out);
}

const Json* row_of(const Json& table, const std::string& algorithm) {
  for (const Json& each : table.at("algorithms")) {
    if (each.at("algorithm").get<std::string>() == algorithm) return &each;
  }
  return nullptr;
}

TEST(Explorer, CataloguesEveryAlgorithmAndNetwork) {
  Explorer explorer;
  const Json answer = ask(explorer, "catalogue", Json::object());
  EXPECT_EQ(answer.at("algorithms").size(), algorithms().size());
  EXPECT_EQ(answer.at("collectives").size(), 9U);
  EXPECT_GT(answer.at("networks").size(), 5U);
}

TEST(Explorer, CostTableEqualsThatOfTheCommand) {
  Explorer explorer;
  for (const std::uint32_t ranks : {2U, 5U, 8U, 17U}) {
    for (const Collective collective : collectives()) {
      const std::string name(tutti::name(collective));
      const Json expected =
          command("cost " + name + " -p " + std::to_string(ranks) +
                  " --size 100003 --alpha 3us --bandwidth 20GB/s --gamma 50GB/s --json");
      const Json found = ask(explorer, "cost",
                             {{"collective", name},
                              {"ranks", ranks},
                              {"size", "100003"},
                              {"alpha", "3us"},
                              {"bandwidth", "20GB/s"},
                              {"gamma", "50GB/s"}});
      ASSERT_EQ(found.at("algorithms").size(), expected.at("algorithms").size()) << name;
      for (const Json& row : expected.at("algorithms")) {
        const Json* const own = row_of(found, row.at("algorithm").get<std::string>());
        ASSERT_NE(own, nullptr) << row;
        for (const auto& [key, value] : row.items()) {
          if (key == "bounds" || key == "most_through") continue;
          EXPECT_EQ(own->at(key), value) << row.at("algorithm") << " " << key;
        }
        EXPECT_EQ(found.at("bounds"), row.at("bounds"));
      }
    }
  }
}

TEST(Explorer, CrossoverEqualsThatOfTheCommand) {
  Explorer explorer;
  const Json expected = command(
      "crossover allreduce/ring allreduce/binomial -p 64 --alpha 1us --bandwidth 100GB/s --json");
  const Json arguments{{"first", "allreduce/ring"},
                       {"second", "allreduce/binomial"},
                       {"ranks", 64},
                       {"alpha", "1us"},
                       {"bandwidth", "100GB/s"}};
  EXPECT_EQ(ask(explorer, "crossing", arguments).at("size"), expected.at("size"));
}

TEST(Explorer, CrossoverByFormulaIsWithinAChunkOfTheCounted) {
  Explorer explorer;
  const Json expected = command(
      "crossover allreduce/ring allreduce/binomial -p 256 --alpha 5us --bandwidth 200GB/s --json");
  const Json found = ask(explorer, "crossing",
                         {{"first", "allreduce/ring"},
                          {"second", "allreduce/binomial"},
                          {"ranks", 256},
                          {"alpha", "5us"},
                          {"bandwidth", "200GB/s"}});
  EXPECT_NEAR(found.at("size").get<double>(), expected.at("size").get<double>(), 256);
}

TEST(Explorer, SimulationEqualsThatOfTheCommand) {
  Explorer explorer;
  const Json expected = command("sim allreduce/ring --topo torus:4x4 --size 1MiB --json");
  const Json found = ask(
      explorer, "simulate",
      {{"algorithm", "allreduce/ring"}, {"ranks", 16}, {"network", "torus:4x4"}, {"size", "1MiB"}});
  EXPECT_EQ(found.at("seconds"), expected.at("seconds"));
  EXPECT_EQ(found.at("part_of_bound"), expected.at("part_of_bound"));
  EXPECT_EQ(found.at("activities").size() % 8, 0U);
}

TEST(Explorer, StretchIsThatOfTheLecture) {
  Explorer explorer;
  const Json ring{{"algorithm", "allreduce/ring"}, {"ranks", 4}, {"network", "ring:p=10"}};
  // Hosts A, B, C, D at 0, 5, 2, 7 of a cycle of ten links.
  const auto stretch = [&](const std::vector<int>& places) {
    Json arguments = ring;
    arguments["places"] = Json(places);
    return ask(explorer, "load", arguments).at("stretch").at("average").get<double>();
  };
  EXPECT_EQ(stretch({0, 2, 7, 5}), 3.5);
  EXPECT_EQ(stretch({0, 2, 5, 7}), 2.5);
}

TEST(Explorer, PlayEndsWithEveryContributionEverywhere) {
  Explorer explorer;
  for (const Algorithm& each : algorithms()) {
    for (const std::uint32_t ranks : {1U, 4U, 6U}) {
      const ScheduleInput input = read_problem(JsonReader(Json{{"ranks", ranks}}), each);
      if (!each.refusal(input.problem).empty()) continue;
      const Json film = ask(explorer, "play", {{"algorithm", each.name}, {"ranks", ranks}});
      ASSERT_FALSE(film.contains("error")) << film;
      EXPECT_EQ(film.at("messages").size(), film.at("rounds").get<std::size_t>()) << each.name;
      EXPECT_EQ(film.at("changes").size(), film.at("rounds").get<std::size_t>()) << each.name;
    }
  }
}

TEST(Explorer, ProofNoticesDamage) {
  Explorer explorer;
  Json arguments{{"algorithm", "allreduce/ring"}, {"ranks", 4}};
  EXPECT_TRUE(ask(explorer, "proof", arguments).at("ok").get<bool>());
  const std::vector<std::pair<std::string, std::string>> expected{
      {"drop", "wrong output"},           {"drop_send", "unmatched"},
      {"drop_receive", "unmatched"},      {"retarget_send", "unmatched"},
      {"rename", "chunk mismatch"},       {"resend", "wrong output"},
      {"delay_receive", "round mismatch"}};
  for (const auto& [kind, violation] : expected) {
    arguments["damage"] = Json::array();
    // What is repeated early is overwritten later, so the last round of additions is damaged.
    const int message = kind == "resend" ? 9 : 1;
    arguments["damage"].push_back({{"kind", kind}, {"message", message}, {"value", 3}});
    const Json answer = ask(explorer, "proof", arguments);
    EXPECT_FALSE(answer.at("ok").get<bool>()) << kind;
    bool named = false;
    for (const Json& each : answer.at("violations")) {
      named = named || each.at("kind").get<std::string>() == violation;
    }
    EXPECT_TRUE(named) << kind << ": " << answer;
  }
}

TEST(Explorer, PlaysDamageThatLeavesMessagesInPairs) {
  Explorer explorer;
  Json arguments{{"algorithm", "allreduce/ring"}, {"ranks", 4}};
  arguments["damage"] = Json::array();
  arguments["damage"].push_back({{"kind", "drop"}, {"message", 0}});
  EXPECT_TRUE(ask(explorer, "play", arguments).at("runs").get<bool>());
  arguments["damage"].push_back({{"kind", "drop_send"}, {"message", 2}});
  EXPECT_FALSE(ask(explorer, "play", arguments).at("runs").get<bool>());
}

TEST(Explorer, DropsAreAllNoticed) {
  Explorer explorer;
  const Json answer =
      ask(explorer, "mutants", {{"algorithm", "allreduce/halving_doubling"}, {"ranks", 6}});
  for (const Json& row : answer.at("rows")) {
    if (row.at("kind").get<std::string>() == "resend") continue;  // Repeating a copy does no harm.
    EXPECT_EQ(row.at("caught"), row.at("tried")) << row;
  }
}

TEST(Explorer, CurvesAreTheTimesOfTheTable) {
  Explorer explorer;
  const Json machine{{"collective", "allreduce"}, {"ranks", 8}, {"size", "65536"}};
  Json over = machine;
  over["axis"] = "size";
  over["values"].push_back("65536");
  const Json table = ask(explorer, "cost", machine);
  const Json curves = ask(explorer, "curves", over);
  for (const Json& line : curves.at("lines")) {
    const Json* const row = row_of(table, line.at("algorithm").get<std::string>());
    ASSERT_NE(row, nullptr);
    const auto expected = row->at("one_port").at("seconds").get<double>();
    EXPECT_NEAR(line.at("seconds").at(std::size_t{0}).get<double>(), expected, 1e-9 * expected)
        << line;
  }
}

TEST(Explorer, LargeGroupsArePricedByFormula) {
  Explorer explorer;
  const Json answer =
      ask(explorer, "cost", {{"collective", "allreduce"}, {"ranks", 1024}, {"size", "1MiB"}});
  const Json* const ring = row_of(answer, "allreduce/ring");
  ASSERT_NE(ring, nullptr);
  EXPECT_FALSE(ring->at("counted").get<bool>());
  EXPECT_EQ(ring->at("rounds"), Json(2046));
}

TEST(Explorer, ErrorsAreAnswers) {
  Explorer explorer;
  EXPECT_TRUE(ask(explorer, "nonsense", Json::object()).contains("error"));
  EXPECT_TRUE(ask(explorer, "cost", {{"collective", "allreduce"}, {"alpha", "5 apples"}})
                  .contains("error"));
  EXPECT_TRUE(ask(explorer, "play", {{"algorithm", "allreduce/rong"}}).contains("error"));
  EXPECT_EQ(Json::parse(explorer.answer("cost", "{")).at("error").at("code").get<std::string>(),
            "invalid_argument");
}

}  // namespace
}  // namespace tutti::web
