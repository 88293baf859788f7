#include "select/rules.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include <tutti/schedule/schedule_json.hpp>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

namespace tutti {
namespace {

using test::expect_error;

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = kib * kib;

Rules variable(const std::string& text) { return parse_algorithm_rules(text, "TUTTI_ALGO"); }

const Rule* find(const Rules& rules, Collective collective, std::uint64_t bytes,
                 std::uint32_t ranks = 4, Pairs pairs = Pairs::host) {
  return rules.find({.collective = collective, .bytes = bytes}, ranks, {.pairs = pairs});
}

TEST(Rules, OneAlgorithmForOneCollective) {
  const Rules rules = variable("allreduce:ring");
  const Rule* const rule = find(rules, Collective::allreduce, 8);
  ASSERT_NE(rule, nullptr);
  EXPECT_FALSE(rule->excludes);
  ASSERT_EQ(rule->methods.size(), 1U);
  EXPECT_EQ(rule->methods[0].name(), "allreduce/ring");
  EXPECT_EQ(find(rules, Collective::allgather, 8), nullptr);
}

TEST(Rules, ListsAndExclusions) {
  const Rules rules = variable("allreduce: ring , mesh; allgather:^ring,bruck");
  EXPECT_EQ(find(rules, Collective::allreduce, 8)->methods.size(), 2U);
  EXPECT_TRUE(find(rules, Collective::allgather, 8)->excludes);
  EXPECT_EQ(find(rules, Collective::allgather, 8)->methods.size(), 2U);
}

/// As `tutti list` prints them.
TEST(Rules, FullNames) {
  for (const Algorithm& each : algorithms()) {
    const Rules rules = variable(std::string(each.name));
    ASSERT_EQ(rules.all().size(), 1U) << each.name;
    EXPECT_EQ(rules.all()[0].collective, each.collective);
    EXPECT_EQ(rules.all()[0].methods, std::vector<Method>{each});
  }
}

TEST(Rules, FullNamesMeanTheSameAsListsOfOneCollective) {
  const auto expect_same = [](const std::string& now, const std::string& before) {
    EXPECT_EQ(variable(now).all(), variable(before).all()) << now;
  };
  expect_same("allreduce/ring", "allreduce:ring");
  expect_same("allreduce/ring,allreduce/mesh", "allreduce:ring,mesh");
  expect_same("^allreduce/ring, ^ allreduce/mesh", "allreduce:^ring,mesh");
  expect_same("allreduce/ring,broadcast/chain", "allreduce:ring;broadcast:chain");
  expect_same("allreduce/ring,^broadcast/chain", "allreduce:ring;broadcast:^chain");
  expect_same("^broadcast/chain,allreduce/ring", "broadcast:^chain;allreduce:ring");
  expect_same("allreduce/mesh@-4KiB,allreduce/ring@1MiB-", "allreduce:mesh@-4KiB,ring@1MiB-");
  expect_same("broadcast/knomial:k=3,broadcast/chain:segments=8@1MiB-",
              "broadcast:knomial:k=3,chain:segments=8@1MiB-");
  expect_same("allreduce/rabenseifner", "allreduce:halving_doubling");
  expect_same("all_reduce/ring", "allreduce:ring");
}

TEST(Rules, NamesToUseBesideNamesToAvoidAreRefused) {
  for (const std::string text :
       {"^allreduce/ring,allreduce/mesh", "^ring,allreduce/mesh", "allreduce:mesh,^ring"}) {
    expect_error([&] { (void)variable(text); }, ErrorCode::invalid_argument,
                 "write ^ before each name to avoid");
  }
  EXPECT_EQ(variable("^allreduce/ring@-4KiB,allreduce/mesh@1MiB-").all().size(), 2U);
}

TEST(Rules, RangesOfSizes) {
  const Rules rules = variable("allreduce:mesh@-4KiB,ring@1MiB-64MiB");
  EXPECT_EQ(find(rules, Collective::allreduce, 8)->methods[0].name(), "allreduce/mesh");
  EXPECT_EQ(find(rules, Collective::allreduce, 4 * kib)->methods[0].name(), "allreduce/mesh");
  EXPECT_EQ(find(rules, Collective::allreduce, 4 * kib + 1), nullptr);
  EXPECT_EQ(find(rules, Collective::allreduce, mib)->methods[0].name(), "allreduce/ring");
  EXPECT_EQ(find(rules, Collective::allreduce, 64 * mib)->methods[0].name(), "allreduce/ring");
  EXPECT_EQ(find(rules, Collective::allreduce, 64 * mib + 1), nullptr);
}

TEST(Rules, ValuesOfParameters) {
  const auto name = [](const std::string& text, Collective collective) {
    const Rules rules = variable(text);
    const Rule* const rule = find(rules, collective, mib);
    return rule == nullptr ? "" : std::string(rule->methods[0].name());
  };
  EXPECT_EQ(name("broadcast:chain:segments=8", Collective::broadcast),
            "broadcast/chain:segments=8");
  EXPECT_EQ(name("broadcast:flat@-4KiB,chain:segments=8@1MiB-", Collective::broadcast),
            "broadcast/chain:segments=8");
  EXPECT_EQ(name("broadcast: broadcast/chain:segments=8", Collective::broadcast),
            "broadcast/chain:segments=8");
  // For every collective that has the algorithm.
  EXPECT_EQ(name("chain:segments=8", Collective::broadcast), "broadcast/chain:segments=8");
  EXPECT_EQ(name("chain:segments=8", Collective::reduce), "reduce/chain:segments=8");
  // The usual value is left out.
  EXPECT_EQ(name("chain:segments=1", Collective::reduce), "reduce/chain");
  const Rules file = parse_rules_file("broadcast use flat,chain:segments=4", "rules.txt");
  EXPECT_EQ(file.all()[0].methods[1].name(), "broadcast/chain:segments=4");
  expect_error([] { (void)variable("broadcast:chain:segments=0"); }, ErrorCode::invalid_argument,
               "TUTTI_ALGO: 'segments=0' is not possible for broadcast/chain: it has segments from "
               "1 to 4096 (usually 1)");
  expect_error([] { (void)variable("ring:k=2"); }, ErrorCode::invalid_argument,
               "it has no parameters");
  expect_error([] { (void)variable("allreduc:k=2"); }, ErrorCode::invalid_argument,
               "no collective is called 'allreduc'");
}

TEST(Rules, ExclusionCoversAllValues) {
  const Rules rules = variable("broadcast:^chain,knomial:k=3");
  const Rule& rule = *find(rules, Collective::broadcast, 8);
  EXPECT_TRUE(rule.names(algorithm("broadcast/chain:segments=8")));
  EXPECT_TRUE(rule.names(algorithm("broadcast/chain")));
  EXPECT_TRUE(rule.names(algorithm("broadcast/knomial:k=3")));
  EXPECT_FALSE(rule.names(algorithm("broadcast/knomial")));
  const Rules use = variable("broadcast:chain");
  EXPECT_FALSE(find(use, Collective::broadcast, 8)->names(algorithm("broadcast/chain:segments=8")));
}

TEST(Rules, ABareNameAppliesToAllCollectives) {
  const Rules rules = variable("^ring");
  for (const Collective each :
       {Collective::allreduce, Collective::allgather, Collective::reduce_scatter}) {
    ASSERT_NE(find(rules, each, 8), nullptr);
    EXPECT_TRUE(find(rules, each, 8)->excludes);
  }
  EXPECT_EQ(find(rules, Collective::broadcast, 8), nullptr);
}

TEST(Rules, EmptyTextGivesNoRules) {
  EXPECT_TRUE(variable("").all().empty());
  EXPECT_TRUE(variable(" ; ").all().empty());
}

TEST(Rules, UnknownNamesListTheKnownOnes) {
  const auto refuses = [](const std::string& text, const std::string& part) {
    expect_error([&] { (void)variable(text); }, ErrorCode::invalid_argument, part);
  };
  refuses("allreduce:rng", "Did you mean 'ring'?");
  refuses("allreduce:rng", "halving_doubling");
  refuses("allreduc:ring", "reduce_scatter");
  refuses("allreduc:ring", "Did you mean 'allreduce'?");
  refuses("spiral", "tutti list");
  refuses("broadcast:ring", "scatter_allgather");
  refuses("allreduce:", "write, for example, allreduce/ring");
  refuses("allreduce/rng", "Did you mean 'allreduce/ring'?");
  refuses("allreduc/ring", "Did you mean 'allreduce'?");
  refuses("broadcast:allreduce/ring", "there is no broadcast by 'allreduce/ring'");
  refuses("allreduce:ring@", "range");
  refuses("allreduce:ring@2MiB-1MiB", "empty");
  refuses("allreduce:ring@x-y", "1KiB-64KiB");
}

TEST(RulesFile, ReadsLinesAndComments) {
  const Rules rules = parse_rules_file(
      "# what we measured\n"
      "\n"
      "allreduce bytes=1MiB- ranks=4-8 pairs=loopback use ring,mesh  # long\n"
      "allreduce ranks=4 avoid ring\n",
      "rules.txt");
  const Rule* const first = find(rules, Collective::allreduce, 2 * mib, 8, Pairs::loopback);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->methods.size(), 2U);
  EXPECT_EQ(first->source, "rules.txt:3");
  EXPECT_EQ(find(rules, Collective::allreduce, 2 * mib, 9, Pairs::loopback), nullptr);
  EXPECT_EQ(find(rules, Collective::allreduce, 2 * mib, 8, Pairs::host), nullptr);
  EXPECT_TRUE(find(rules, Collective::allreduce, 2 * mib, 4, Pairs::host)->excludes);
}

TEST(RulesFile, ErrorsNameTheLine) {
  const auto refuses = [](const std::string& line, const std::string& part) {
    expect_error([&] { (void)parse_rules_file("\n" + line + "\n", "f"); },
                 ErrorCode::invalid_argument, "f:2: " + part);
  };
  refuses("allreduce", "a rule ends with");
  refuses("allreduce use", "a rule ends with");
  refuses("allreduce use ring mesh", "a rule ends with");
  refuses("allreduce use rng", "there is no allreduce by 'rng'");
  refuses("reduse use flat", "no collective is called 'reduse'");
  refuses("reduce size=3 use flat", "'size=3' is not one of");
  refuses("reduce ranks=a use flat", "'a' is not a range");
  refuses("reduce pairs=wire use flat", "'wire' is not one of");
}

/// A directory with the schedule of a ring of four ranks and of a chain from rank 1 of three ranks.
class ScheduleFolder {
 public:
  ScheduleFolder() {
    write("ring.json", algorithm("allreduce/ring").schedule({.ranks = 4}));
    write("chain.json", algorithm("broadcast/chain").schedule({.ranks = 3, .root = Rank{1}}));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

 private:
  void write(const std::string& name, const Schedule& schedule) const {
    std::ofstream(folder_.path(name)) << to_json(schedule);
  }
  test::TemporaryDirectory folder_;
};

TEST(Rules, SchedulesAndAlgorithmsCanBeMixed) {
  const ScheduleFolder folder;
  const Rules rules =
      variable("allreduce:mesh@-4KiB,file:" + folder.path("ring.json") + "@1MiB-,binomial@1MiB-");
  EXPECT_EQ(find(rules, Collective::allreduce, 8)->methods[0].name(), "allreduce/mesh");
  const Rule* const rule = find(rules, Collective::allreduce, 2 * mib);
  ASSERT_EQ(rule->methods.size(), 2U);
  EXPECT_NE(rule->methods[0].schedule(), nullptr);
  EXPECT_EQ(rule->methods[1].name(), "allreduce/binomial");
  // For other numbers of ranks only the algorithm remains.
  EXPECT_EQ(find(rules, Collective::allreduce, 2 * mib, 5), rule);
}

TEST(Rules, RuleOfSchedulesAppliesOnlyIfOneFits) {
  const ScheduleFolder folder;
  const Rules rules = variable("file:" + folder.path("ring.json") +
                               ",file:" + folder.path("chain.json") + ";allreduce:mesh");
  EXPECT_NE(find(rules, Collective::allreduce, 8, 4)->methods[0].schedule(), nullptr);
  EXPECT_EQ(find(rules, Collective::allreduce, 8, 5)->methods[0].name(), "allreduce/mesh");
  const auto broadcast = [&](std::uint32_t ranks, std::uint32_t root) {
    return rules.find({.collective = Collective::broadcast, .root = root}, ranks, {});
  };
  EXPECT_NE(broadcast(3, 1), nullptr);
  EXPECT_EQ(broadcast(3, 0), nullptr);
  EXPECT_EQ(broadcast(4, 1), nullptr);
}

TEST(RulesFile, PathsAreRelativeToTheFile) {
  const ScheduleFolder folder;
  const Rules rules =
      parse_rules_file("allreduce use ring,file:ring.json\n", folder.path("rules.txt"));
  EXPECT_EQ(find(rules, Collective::allreduce, 8)->methods.size(), 2U);
  expect_error(
      [&] { (void)parse_rules_file("allreduce use file:none.json", folder.path("rules.txt")); },
      ErrorCode::invalid_argument, folder.path("rules.txt") + ":1: cannot read the schedule '");
  expect_error(
      [&] { (void)parse_rules_file("allreduce avoid file:ring.json", folder.path("rules.txt")); },
      ErrorCode::invalid_argument, "schedules are used only if they are named");
}

TEST(Rules, DigestsDiffer) {
  EXPECT_EQ(variable("allreduce:ring").digest(), variable("allreduce: ring ").digest());
  EXPECT_NE(variable("allreduce:ring").digest(), variable("allreduce:^ring").digest());
  EXPECT_NE(variable("allreduce:ring").digest(), variable("allreduce:ring@1MiB-").digest());
  EXPECT_NE(variable("allreduce:ring").digest(), variable("").digest());
}

}  // namespace
}  // namespace tutti
