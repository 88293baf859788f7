#include <algorithm>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include <tutti/schedule/schedule_json.hpp>

#include "support/draft.hpp"
#include "support/errors.hpp"
#include "support/golden.hpp"
#include "support/problems.hpp"
#include "support/variant_schedules.hpp"

namespace tutti::test {
namespace {

TEST(ScheduleJson, RoundTrips) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const std::uint32_t p : {1, 2, 3, 6, 8, 12}) {
      for (const Problem& problem : problems(algorithm, p)) {
        const Schedule schedule = algorithm.schedule(problem);
        EXPECT_EQ(schedule_from_json(to_json(schedule)), schedule)
            << algorithm.name << " " << words(problem);
      }
    }
  }
}

TEST(ScheduleJson, MatchesTheGoldenFileOfEveryAlgorithm) {
  for (const Algorithm& algorithm : algorithms()) {
    const Schedule schedule = algorithm.schedule(small_problem(algorithm));
    ::tutti::test::expect_golden(std::string(algorithm.name) + ".json", to_json(schedule));
  }
}

TEST(ScheduleJson, HasNoStaleGoldenFiles) {
  std::set<std::string> known;
  for (const Algorithm& algorithm : algorithms()) known.insert(std::string(algorithm.name));
  for (const Collective collective : collectives()) {
    const auto folder = std::filesystem::path(TUTTI_GOLDEN_DIR) / name(collective);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      const std::string algorithm_name =
          std::string(name(collective)) + "/" + entry.path().stem().string();
      EXPECT_TRUE(known.contains(algorithm_name)) << entry.path();
    }
  }
}

/// Every detail of the format: ranges, several peers, folds with the own operand anywhere, unusual
/// names.
Schedule with_everything() {
  Draft draft{.name = "quotes \" and \\ and new\nlines and ∑",
              .contract = {.collective = Collective::reduce,
                           .ranks = 3,
                           .root = Rank{2},
                           .chunks = std::uint64_t{1} << 60},
              .rounds = 4294967294,
              .programs = {}};
  draft.programs = {{send(0, {1, 2}, {0, 5}), fold(1, {2, 1}, 0, {7})},
                    {receive(0, {0}, {0}), fold(3, {2, 0}, 1, {7})},
                    {fold(4294967293, {0, 1}, 2, {(std::uint64_t{1} << 60) - 1})}};
  draft.programs[1][0].chunks = {{Chunk{0}, 5}, Chunk{9}, {Chunk{20}, 2}};
  return schedule(draft);
}

TEST(ScheduleJson, KeepsEveryDetail) {
  EXPECT_EQ(schedule_from_json(to_json(with_everything())), with_everything());
}

TEST(ScheduleJson, WritesOneStepPerLine) {
  const std::string text = to_json(with_everything());
  for (const char* line : {
           "      {\"round\": 0, \"send\": [0, 5], \"to\": [1, 2]},\n",
           "      {\"round\": 1, \"receive\": [7], \"from\": [\"own\", 2, 1]}\n",
           "      {\"round\": 0, \"receive\": [[0, 5], 9, [20, 2]], \"from\": [0]},\n",
           "      {\"round\": 3, \"receive\": [7], \"from\": [2, \"own\", 0]}\n",
           "\"from\": [0, 1, \"own\"]}\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

TEST(ScheduleJson, IgnoresWhitespace) {
  const Schedule schedule = with_everything();
  std::string spaced;
  for (const char each : to_json(schedule)) {
    spaced += each;
    if (each == ',' || each == '[') spaced += " \t\r\n ";
  }
  EXPECT_EQ(schedule_from_json(spaced).programs, schedule.programs);
}

/// A correct document that the tests damage.
constexpr std::string_view right = R"({
  "format": "tutti-schedule",
  "version": 1,
  "name": "by hand",
  "collective": "broadcast",
  "ranks": 3,
  "root": 1,
  "chunks": 4,
  "rounds": 2,
  "programs": [
    [{"round": 1, "receive": [[0, 4]], "from": [2]}],
    [{"round": 0, "send": [[0, 4]], "to": [2]}],
    [{"round": 0, "receive": [[0, 4]], "from": [1]}, {"round": 1, "send": [[0, 4]], "to": [0]}]
  ]
}
)";

std::string damaged(std::string_view part, std::string_view instead) {
  std::string text(right);
  const std::size_t at = text.find(part);
  if (at == std::string::npos) throw std::logic_error("nothing to replace");
  return text.replace(at, part.size(), instead);
}

struct BadDocument {
  std::string title;
  std::string text;
  std::string says;
};

[[maybe_unused]] void PrintTo(const BadDocument& bad, std::ostream* out) { *out << bad.title; }

std::vector<BadDocument> documents_that_are_not_json() {
  return {
      {"Empty", "", "line 1, column 1"},
      {"NotJson", "allreduce/ring", "line 1, column 1"},
      {"Truncated", std::string(right.substr(0, 120)), "line 7, column 9"},
      {"NoLastBrace", damaged("  ]\n}", "  ]\n"), "line 16, column 1"},
      {"ExtraComma", damaged("\"ranks\": 3,", "\"ranks\": 3,,"), "line 6, column 14"},
      {"CommaMissing", damaged("\"ranks\": 3,", "\"ranks\": 3"), "line 7, column"},
      {"TrailingText", std::string(right) + "x", "line 16, column 1"},
      {"TwoDocuments", std::string(right) + std::string(right), "line 16, column 1"},
      {"LeadingZero", damaged("\"ranks\": 3,", "\"ranks\": 03,"), "line 6"},
      {"NotANumber", damaged("\"ranks\": 3,", "\"ranks\": NaN,"), "line 6"},
      {"Comment", damaged("\"ranks\": 3,", "\"ranks\": 3, // three"), "line 6"},
      {"InvalidUtf8", damaged("by hand", "by \xff hand"), "line 4"},
      {"ControlCharacter", damaged("by hand", std::string_view("by\0hand", 7)), "line 4"},
      {"DeepNesting", std::string(100000, '['), "line 1: more than 100 nested brackets"},
      {"DeepNestingOfObjects", damaged("3", std::string(100000, '{')), "line 6"},
      {"NumberOverflow", damaged("\"rounds\": 2", "\"rounds\": 1e999"), "schedule JSON"},
  };
}

std::vector<BadDocument> documents_with_wrong_members() {
  return {
      {"List", "[]", "at /: expected an object"},
      {"Null", "null", "at /: expected an object"},
      {"EmptyObject", "{}", "at /: the member \"format\" is missing"},
      {"DeepList", std::string(1000, '[') + std::string(1000, ']'),
       "line 1: more than 100 nested brackets"},
      {"OtherFormat", damaged("tutti-schedule", "tutti-plan"), "at /format: expected"},
      {"FormatOfWrongType", damaged("\"tutti-schedule\"", "1"), "at /format"},
      {"OtherVersion", damaged("\"version\": 1", "\"version\": 3"), "at /version"},
      {"NoName", damaged("  \"name\": \"by hand\",\n", ""), "the member \"name\" is missing"},
      {"NameOfWrongType", damaged("\"by hand\"", "7"), "at /name: expected a string"},
      {"NoCollective", damaged("  \"collective\": \"broadcast\",\n", ""),
       "the member \"collective\" is missing"},
      {"OtherCollective", damaged("\"broadcast\"", "\"brodcast\""), "Did you mean 'broadcast'?"},
      {"CollectiveOfWrongType", damaged("\"broadcast\"", "[]"),
       "at /collective: expected a string"},
      {"NoRanks", damaged("  \"ranks\": 3,\n", ""), "the member \"ranks\" is missing"},
      {"NoChunks", damaged("  \"chunks\": 4,\n", ""), "the member \"chunks\" is missing"},
      {"NoRounds", damaged("  \"rounds\": 2,\n", ""), "the member \"rounds\" is missing"},
      {"UnknownMember", damaged("\"rounds\": 2", "\"rounds\": 2, \"round\": 2"),
       "line 9, at /round: unknown member \"round\". Did you mean 'rounds'? Known are"},
      {"RootMissing", damaged("  \"root\": 1,\n", ""), "the member \"root\" is missing"},
      {"UnexpectedRoot", damaged("broadcast", "allreduce"), "at /root: allreduce has no root"},
      {"RootBeyondTheRanks", damaged("\"root\": 1", "\"root\": 3"),
       "at /root: expected a whole number from 0 to 2"},
      {"NoRanksAtAll", damaged("\"ranks\": 3", "\"ranks\": 0"),
       "at /ranks: expected a whole number from 1"},
      {"NegativeRanks", damaged("\"ranks\": 3", "\"ranks\": -3"),
       "at /ranks: expected a whole number"},
      {"RanksAsFraction", damaged("\"ranks\": 3", "\"ranks\": 3.0"),
       "at /ranks: expected a whole number"},
      {"RanksAsText", damaged("\"ranks\": 3", "\"ranks\": \"3\""),
       "at /ranks: expected a whole number"},
      {"RanksAsBoolean", damaged("\"ranks\": 3", "\"ranks\": true"),
       "at /ranks: expected a whole number"},
      {"HugeRanks", damaged("\"ranks\": 3", "\"ranks\": 2147483648"), "at /ranks"},
      {"HugerRanks", damaged("\"ranks\": 3", "\"ranks\": 4294967299"), "at /ranks"},
      {"HugestRanks", damaged("\"ranks\": 3", "\"ranks\": 340282366920938463463374607431768211459"),
       "at /ranks"},
      {"HugeChunks", damaged("\"chunks\": 4", "\"chunks\": 1152921504606846977"), "at /chunks"},
      {"HugestChunks", damaged("\"chunks\": 4", "\"chunks\": 18446744073709551620"), "at /chunks"},
      {"NoChunksAtAll", damaged("\"chunks\": 4", "\"chunks\": 0"), "at /chunks"},
      {"ChunksNotAMultipleOfRanks", damaged("broadcast", "scatter"), "a multiple of 3, not 4"},
      {"HugeRounds", damaged("\"rounds\": 2", "\"rounds\": 4294967295"), "at /rounds"},
      {"NegativeRounds", damaged("\"rounds\": 2", "\"rounds\": -1"), "at /rounds"},
      {"FractionAsRounds", damaged("\"rounds\": 2", "\"rounds\": 2e0"), "at /rounds"},
      {"ProgramsOfWrongType",
       std::string(right.substr(0, right.find("\"programs\""))) + "\"programs\": {}}",
       "at /programs: expected a list"},
      {"TooFewPrograms", damaged("\"ranks\": 3", "\"ranks\": 4"),
       "at /programs: there are 3 programs for 4 ranks"},
      {"TooManyPrograms", damaged("  \"programs\": [\n", "  \"programs\": [[],\n"),
       "at /programs: there are 4 programs for 3 ranks"},
  };
}

std::vector<BadDocument> documents_with_wrong_steps() {
  return {
      {"ProgramOfWrongType", damaged("[{\"round\": 1, \"receive\": [[0, 4]], \"from\": [2]}]", "1"),
       "at /programs/0: expected a list"},
      {"StepOfWrongType", damaged("{\"round\": 1, \"receive\": [[0, 4]], \"from\": [2]}", "1"),
       "at /programs/0/0: expected an object"},
      {"EmptyStep", damaged("{\"round\": 1, \"receive\": [[0, 4]], \"from\": [2]}", "{}"),
       "at /programs/0/0: a step has either"},
      {"SendsAndReceives", damaged("\"from\": [2]", "\"from\": [2], \"send\": [1]"),
       "at /programs/0/0: a step has either"},
      {"RoundMissing", damaged("{\"round\": 1, \"receive\"", "{\"receive\""),
       "at /programs/0/0: the member \"round\" is missing"},
      {"RoundBeyondTheLast", damaged("{\"round\": 1, \"receive\"", "{\"round\": 2, \"receive\""),
       "at /programs/0/0/round: expected a whole number from 0 to 1"},
      {"StepInNoRounds", damaged("\"rounds\": 2", "\"rounds\": 0"), "schedule of 0 rounds"},
      {"UnknownMemberOfStep", damaged("\"from\": [2]", "\"from\": [2], \"peer\": 2"),
       "at /programs/0/0/peer: unknown member \"peer\""},
      {"ToOfAReceive", damaged("\"from\": [2]", "\"to\": [2]"), "unknown member \"to\""},
      {"PeersMissing", damaged(", \"from\": [2]", ""), "the member \"from\" is missing"},
      {"PeersEmpty", damaged("\"from\": [2]", "\"from\": []"),
       "at /programs/0/0/from: expected at least one rank"},
      {"OnlyOwn", damaged("\"from\": [2]", "\"from\": [\"own\"]"), "at least one rank"},
      {"OwnTwice", damaged("\"from\": [2]", "\"from\": [\"own\", 2, \"own\"]"),
       "at /programs/0/0/from/2: \"own\" may occur only once"},
      {"OwnInASend", damaged("\"to\": [2]", "\"to\": [\"own\", 2]"), "at /programs/1/0/to/0"},
      {"MisspelledOwn", damaged("\"from\": [2]", "\"from\": [\"Own\", 2]"),
       "at /programs/0/0/from/0: expected a whole number from 0 to 2"},
      {"PeersOfWrongType", damaged("\"from\": [2]", "\"from\": 2"),
       "at /programs/0/0/from: expected a list"},
      {"PeerBeyondTheRanks", damaged("\"from\": [2]", "\"from\": [3]"),
       "at /programs/0/0/from/0: expected a whole number from 0 to 2"},
      {"PeerNegative", damaged("\"from\": [2]", "\"from\": [-1]"), "at /programs/0/0/from/0"},
      {"PeerAsFraction", damaged("\"from\": [2]", "\"from\": [1.5]"), "at /programs/0/0/from/0"},
      {"PeerThatOverflows", damaged("\"from\": [2]", "\"from\": [4294967298]"),
       "at /programs/0/0/from/0"},
      {"ChunksEmpty", damaged("\"receive\": [[0, 4]]", "\"receive\": []"),
       "at /programs/0/0/receive: a step needs at least one chunk"},
      {"ChunksOfWrongType", damaged("\"receive\": [[0, 4]]", "\"receive\": 0"),
       "at /programs/0/0/receive: expected a list"},
      {"ChunkBeyondTheLast", damaged("\"receive\": [[0, 4]]", "\"receive\": [4]"),
       "at /programs/0/0/receive/0: expected a whole number from 0 to 3"},
      {"ChunkNegative", damaged("\"receive\": [[0, 4]]", "\"receive\": [-1]"),
       "at /programs/0/0/receive/0"},
      {"ChunkAsText", damaged("\"receive\": [[0, 4]]", "\"receive\": [\"0\"]"),
       "at /programs/0/0/receive/0"},
      {"RangeTooLong", damaged("\"receive\": [[0, 4]]", "\"receive\": [[1, 4]]"),
       "at /programs/0/0/receive/0/1: expected a whole number from 1 to 3"},
      {"RangeStartsBeyondTheLast", damaged("\"receive\": [[0, 4]]", "\"receive\": [[4, 1]]"),
       "at /programs/0/0/receive/0/0"},
      {"RangeEmpty", damaged("\"receive\": [[0, 4]]", "\"receive\": [[0, 0]]"),
       "at /programs/0/0/receive/0/1"},
      {"RangeHuge", damaged("\"receive\": [[0, 4]]", "\"receive\": [[1, 18446744073709551615]]"),
       "at /programs/0/0/receive/0/1"},
      {"RangeOfOneNumber", damaged("\"receive\": [[0, 4]]", "\"receive\": [[0]]"),
       "at /programs/0/0/receive/0: a range of chunks is [first, count]"},
      {"RangeOfThreeNumbers", damaged("\"receive\": [[0, 4]]", "\"receive\": [[0, 1, 2]]"),
       "at /programs/0/0/receive/0: a range of chunks is [first, count]"},
  };
}

class BadDocuments : public ::testing::TestWithParam<BadDocument> {};

TEST_P(BadDocuments, AreRejectedWithPlaceAndCure) {
  expect_error([] { (void)schedule_from_json(GetParam().text); }, ErrorCode::invalid_argument,
               GetParam().says);
}

std::string title_of(const ::testing::TestParamInfo<BadDocument>& parameter) {
  return parameter.param.title;
}

INSTANTIATE_TEST_SUITE_P(Syntax, BadDocuments, ::testing::ValuesIn(documents_that_are_not_json()),
                         title_of);
INSTANTIATE_TEST_SUITE_P(Members, BadDocuments, ::testing::ValuesIn(documents_with_wrong_members()),
                         title_of);
INSTANTIATE_TEST_SUITE_P(Steps, BadDocuments, ::testing::ValuesIn(documents_with_wrong_steps()),
                         title_of);

// Local steps and variants: version 2 ------------------------------------------------------------

TEST(ScheduleJson, KeepsVariantsAndLocalSteps) {
  for (std::uint32_t p = 1; p <= 6; ++p) {
    for (const Schedule& each : variant_schedules(p)) {
      const std::string text = to_json(each);
      EXPECT_EQ(schedule_from_json(text), each) << text;
      const bool plain = std::ranges::all_of(each.programs, &Program::is_plain);
      EXPECT_NE(text.find(plain ? "\"version\": 1" : "\"version\": 2"), std::string::npos)
          << each.name;
    }
  }
}

TEST(ScheduleJson, OmitsVariantZero) {
  const std::string text = to_json(relay_allreduce(3));
  for (const char* const line :
       {"{\"round\": 0, \"receive\": [0, 1], \"from\": [1], \"variant\": 1}",
        "{\"round\": 1, \"receive\": [0, 1], \"from\": [1], \"variant\": 2}",
        "{\"round\": 1, \"local\": [0, 1], \"from\": [\"own\", {\"own\": 1}, {\"own\": 2}]}",
        "{\"round\": 0, \"send\": [0, 1], \"to\": [0]}",
        "{\"round\": 1, \"send\": [0, 1], \"to\": [0], \"variant\": 1}"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nis not in\n" << text;
  }
  const std::string ring = to_json(carrying_ring(3));
  EXPECT_NE(ring.find("\"from\": [2, \"own\"], \"variant\": 1}"), std::string::npos) << ring;
}

/// The version 2 document with different steps on rank 0.
std::string with_steps(const std::string& steps, const std::string& version = "2") {
  return R"({"format": "tutti-schedule", "version": )" + version +
         R"(, "name": "s", "collective": "allreduce", "ranks": 2, "chunks": 1, "rounds": 2,
            "programs": [[)" +
         steps + "], []]}";
}

TEST(ScheduleJson, ReadsOwnsOfAnyVariant) {
  const Schedule read = schedule_from_json(
      with_steps(R"({"round": 0, "receive": [0], "from": [1, {"own": 7}], "variant": 65535},
                    {"round": 0, "local": [0], "from": [{"own": 0}, "own"], "variant": 3})"));
  const Step receive = read.programs[0][0];
  EXPECT_EQ(receive.own, 1U);
  EXPECT_EQ(receive.own_variant, Variant{7});
  EXPECT_EQ(receive.variant, Variant{65535});
  const Step local = read.programs[0][1];
  EXPECT_EQ(local.sources.size(), 2U);
  EXPECT_EQ(local.sources[0], Variant{0});
  EXPECT_EQ(local.variant, Variant{3});
}

TEST(ScheduleJson, RejectsInvalidVariants) {
  const auto refuses = [](const std::string& steps, const std::string& part,
                          const std::string& version = "2") {
    expect_error([&] { (void)schedule_from_json(with_steps(steps, version)); },
                 ErrorCode::invalid_argument, part);
  };
  refuses(R"({"round": 0, "send": [0], "to": [1], "variant": 65536})",
          "at /programs/0/0/variant: expected a whole number from 0 to 65535");
  refuses(R"({"round": 0, "local": [0], "from": []})", "at least one \"own\"");
  refuses(R"({"round": 0, "local": [0], "from": [1]})", "\"own\" or {\"own\": VARIANT}");
  refuses(R"({"round": 0, "local": [0], "to": [1]})", "unknown member \"to\"");
  refuses(R"({"round": 0, "local": [0], "from": [{"own": 1, "x": 2}]})", "unknown member \"x\"");
  refuses(R"({"round": 0, "local": [0], "from": [{}]})", "the member \"own\" is missing");
  refuses(R"({"round": 0, "local": [0], "send": [0], "from": ["own"]})", "a step has either");
  refuses(R"({"round": 0, "receive": [0], "from": [{"own": 1}]})", "at least one rank");
  refuses(R"({"round": 0, "receive": [0], "from": [1, "own", {"own": 1}]})", "only once");
  // Version 1 has no local steps and variants.
  refuses(R"({"round": 0, "local": [0], "from": ["own"]})", "a step has either", "1");
  refuses(R"({"round": 0, "send": [0], "to": [1], "variant": 0})", "unknown member \"variant\"",
          "1");
  refuses(R"({"round": 0, "receive": [0], "from": [1, {"own": 1}]})", "a whole number", "1");
}

TEST(ScheduleJson, ReadsTheUndamagedDocument) {
  EXPECT_EQ(schedule_from_json(right).programs.size(), 3);
}

TEST(ScheduleJson, AcceptsWellFormedButIncorrectSchedules) {
  const Schedule nonsense = schedule_from_json(damaged("\"from\": [2]", "\"from\": [0, 0]"));
  EXPECT_EQ(nonsense.programs[0][0].peers.size(), 2);
}

TEST(ScheduleJson, RejectsNamesThatAreNotUtf8) {
  Schedule schedule = with_everything();
  schedule.name = "\xff";
  expect_error([&] { (void)to_json(schedule); }, ErrorCode::invalid_argument, "UTF-8");
}

}  // namespace
}  // namespace tutti::test
