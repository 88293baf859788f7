#include "cli/console/arguments.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

namespace tutti::test {
namespace {

using cli::Arguments;
using cli::Command;
using cli::Option;
using Words = std::vector<std::string>;

/// A command line with one command, `work`.
class ArgumentsTest : public testing::Test {
 protected:
  [[nodiscard]] int run(const Words& words) {
    Words all{"work"};
    all.insert(all.end(), words.begin(), words.end());
    return arguments_.run(all);
  }

  /// The error message for these words; empty if they are accepted.
  [[nodiscard]] std::string complaint(const Words& words) {
    try {
      (void)arguments_.run(words);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return {};
  }

  Arguments arguments_{"tutti", "for a test", "tutti 0"};
  const Command work_ = arguments_.root().command("work", "does something");
};

TEST_F(ArgumentsTest, SetVariablesOfEveryKind) {
  std::string text;
  bool yes = true;
  bool flag = false;
  std::uint32_t small = 0;
  std::uint64_t large = 0;
  double real = 0;
  std::optional<std::uint64_t> given;
  std::optional<std::uint64_t> not_given;
  work_.option("text", text, "");
  work_.option("--yes", yes, "");
  work_.flag("--flag", flag, "");
  work_.option("-s,--small", small, "");
  work_.option("--large", large, "");
  work_.option("--real", real, "");
  work_.option("--given", given, "");
  work_.option("--not-given", not_given, "");
  EXPECT_EQ(run({"word", "--yes", "0", "--flag", "-s", "4294967295", "--large",
                 "18446744073709551615", "--real", "0.5", "--given", "0"}),
            0);
  EXPECT_EQ(text, "word");
  EXPECT_FALSE(yes);
  EXPECT_TRUE(flag);
  EXPECT_EQ(small, 4294967295U);
  EXPECT_EQ(large, 18446744073709551615U);
  EXPECT_EQ(real, 0.5);
  EXPECT_EQ(given, 0U);
  EXPECT_FALSE(not_given);
}

TEST_F(ArgumentsTest, ReturnTheExitCodeOfTheAction) {
  work_.action([] { return 7; });
  EXPECT_EQ(run({}), 7);
}

TEST_F(ArgumentsTest, SupportSubcommands) {
  const Command other = arguments_.root().command("other", "with commands of its own");
  other.command("first", "").action([] { return 1; });
  other.command("second", "").action([] { return 2; });
  EXPECT_EQ(arguments_.run({"other", "second"}), 2);
  EXPECT_EQ(complaint({"other"}), "A subcommand is required");
}

TEST_F(ArgumentsTest, SuggestACommand) {
  EXPECT_EQ(complaint({"wrok"}),
            "no command is called 'wrok'. Did you mean 'work'? 'tutti --help' shows them all.");
}

TEST_F(ArgumentsTest, SuggestAnOption) {
  std::string value;
  work_.option("-v,--values", value, "");
  EXPECT_EQ(complaint({"work", "--vlaues=3"}),
            "'tutti work' has no option '--vlaues'. Did you mean '--values'? 'tutti work --help' "
            "shows them all.");
  EXPECT_EQ(complaint({"work", "-v-3"}), "");
}

TEST_F(ArgumentsTest, TakeJsonAloneOrWithAFile) {
  bool wanted = false;
  std::string word;
  work_.json(wanted, "");
  work_.option("word", word, "");
  work_.action([] {
    std::puts("as JSON");
    return 0;
  });
  EXPECT_EQ(run({"--json", "word"}), 0);
  EXPECT_TRUE(wanted);
  EXPECT_EQ(word, "word");
}

TEST_F(ArgumentsTest, TakeAFileAfterJsonWhereThatWasValid) {
  std::string path;
  std::string word;
  work_.json_file(path, "");
  work_.option("word", word, "");
  EXPECT_EQ(run({"--json", "some.json", "word"}), 0);
  EXPECT_EQ(path, "some.json");
  EXPECT_EQ(run({"--json=other", "word"}), 0);
  EXPECT_EQ(path, "other");
  EXPECT_EQ(run({"--json", "allreduce"}), 0);
  EXPECT_EQ(path, "-");
  EXPECT_EQ(word, "allreduce");
}

TEST_F(ArgumentsTest, DescribeThemselves) {
  std::string file;
  std::string mode = "fast";
  std::uint32_t ranks = 4;
  work_.option("-p,-n,--ranks", ranks, "how many").between(1U, 9U).shows_default();
  work_.option("--mode", mode, "how").among({"fast", "slow"});
  work_.option("file", file, "what to read").required();
  const cli::Description found = work_.describe();
  EXPECT_EQ(found.usage(), "tutti work [OPTIONS] FILE");
  EXPECT_EQ(cli::help_text(found, 60),
            "does something\n"
            "Usage: tutti work [OPTIONS] FILE\n"
            "\n"
            "  FILE                      what to read\n"
            "\n"
            "Options:\n"
            "  -h, --help                show this help\n"
            "  -p, -n, --ranks N (4)     how many\n"
            "  --mode fast|slow          how\n");
  EXPECT_NE(cli::manual_page(found, "tutti 0").find(".TH TUTTI\\-WORK 1"), std::string::npos);
  EXPECT_NE(cli::manual_page(found, "tutti 0").find(".B \\-\\-mode fast|slow\nhow\n"),
            std::string::npos);
}

TEST_F(ArgumentsTest, CheckValues) {
  std::uint32_t number = 0;
  double real = 0;
  std::string word;
  work_.option("--number", number, "").between(2U, 5U);
  work_.option("--positive", number, "").positive();
  work_.option("--real", real, "").between(0.5, 2.0);
  work_.option("--not-negative", real, "").not_negative();
  work_.option("--word", word, "").among({"one", "other"});
  EXPECT_EQ(complaint({"work", "--number", "2", "--positive", "1", "--real", "2", "--not-negative",
                       "0", "--word", "other"}),
            "");
  EXPECT_EQ(complaint({"work", "--number", "6"}), "--number: Value 6 not in range 2 to 5");
  EXPECT_EQ(complaint({"work", "--number", "4294967298"}),
            "--number: Value 4294967298 not in range 2 to 5");
  EXPECT_NE(complaint({"work", "--positive", "0"}), "");
  EXPECT_NE(complaint({"work", "--real", "0.4"}), "");
  EXPECT_NE(complaint({"work", "--not-negative", "-1"}), "");
  EXPECT_EQ(complaint({"work", "--word", "third"}), "--word: third not in {one,other}");
}

TEST_F(ArgumentsTest, CheckRequiredExcludedAndNeededOptions) {
  std::string values[4];
  work_.option("--always", values[0], "").required();
  const Option one = work_.option("--one", values[1], "");
  work_.option("--not-with-one", values[2], "").excludes(one);
  work_.option("--only-with-one", values[3], "").needs(one);
  EXPECT_EQ(complaint({"work", "--always", "a", "--one", "b", "--only-with-one", "c"}), "");
  EXPECT_EQ(complaint({"work"}), "--always is required");
  EXPECT_NE(complaint({"work", "--always", "a", "--one", "b", "--not-with-one", "c"}), "");
  EXPECT_EQ(complaint({"work", "--always", "a", "--only-with-one", "c"}),
            "--only-with-one requires --one");
}

TEST_F(ArgumentsTest, ParseLists) {
  Words greedy;
  Words modest;
  std::string place;
  work_.option("place", place, "");
  work_.option("--greedy", greedy, "");
  work_.option("--modest", modest, "").delimiter(',').one_word();
  EXPECT_EQ(run({"--modest", "a,b", "here", "--greedy", "c", "d"}), 0);
  EXPECT_EQ(modest, (Words{"a", "b"}));
  EXPECT_EQ(place, "here");
  EXPECT_EQ(greedy, (Words{"c", "d"}));
}

TEST_F(ArgumentsTest, ParseValuesByName) {
  int taken = 0;
  work_.choice(
      "--colour", {{"red", 3}, {"green", 5}}, [&taken](int value) { taken = value; }, "");
  EXPECT_EQ(run({"--colour", "green"}), 0);
  EXPECT_EQ(taken, 5);
  EXPECT_NE(complaint({"work", "--colour", "blue"}), "");
}

TEST_F(ArgumentsTest, KeepTheRemainingWords) {
  std::uint32_t ranks = 0;
  work_.option("-n", ranks, "");
  work_.keep_rest();
  EXPECT_EQ(run({"-n", "4", "program", "-n", "5"}), 0);
  EXPECT_EQ(ranks, 4U);
  EXPECT_EQ(work_.rest(), (Words{"program", "-n", "5"}));
}

TEST(ReadNumber, RejectsOtherText) {
  EXPECT_EQ(cli::read_number("12"), 12U);
  EXPECT_FALSE(cli::read_number("4294967296"));
  EXPECT_FALSE(cli::read_number("12 ranks"));
  EXPECT_FALSE(cli::read_number(""));
}

}  // namespace
}  // namespace tutti::test
