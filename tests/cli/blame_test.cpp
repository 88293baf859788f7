#include <fstream>

#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/command.hpp"
#include "support/golden.hpp"
#include "support/made_up_dump.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

void write(const TemporaryDirectory& folder, const MadeUpDump& dump) {
  std::ofstream(folder.path("flight-1-0-" + std::to_string(dump.rank) + ".jsonl")) << dump.text();
}

/// Dumps of three of four ranks. The first waits for the second.
void write_three(const TemporaryDirectory& folder) {
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    MadeUpDump dump{.rank = rank, .reason = "SIGUSR2", .calls = {{.begun = 1, .ended = 2}}};
    if (rank == 0) {
      dump.calls.push_back(
          {.number = 2, .begun = 3, .site = "step 2", .wait = {{.rank = 1, .round = 0}}});
    }
    if (rank == 2) dump.calls.clear();
    write(folder, dump);
  }
}

TEST(BlameCommand, PrintsTheVerdictAndTheStateOfRanks) {
  const TemporaryDirectory folder;
  write_three(folder);
  std::ofstream(folder.path("flight-1-0-0.jsonl.part")) << "half a dump of nobody's";
  std::ofstream(folder.path("notes.jsonl")) << "not a dump at all";
  const Outcome outcome = tutti("blame " + folder.path());
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  expect_golden("cli/blame.txt", outcome.out);
}

TEST(BlameCommand, PrintsJson) {
  const TemporaryDirectory folder;
  write_three(folder);
  const Outcome outcome = tutti("blame --json " + folder.path());
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const Json document = Json::parse(outcome.out);
  const Json& one = document.at("communicators").at(0);
  EXPECT_EQ(one.at("communicator"), "0000000000c0ffee");
  EXPECT_EQ(one.at("verdict"), "missing");
  EXPECT_EQ(one.at("accused"), Json::array({3}));
  EXPECT_EQ(one.at("call"), 2);
  EXPECT_EQ(one.at("table").at(0).at("waits_for"), 1);
  EXPECT_EQ(one.at("table").at(0).at("since_seconds"), 17);
  EXPECT_EQ(document.at("faults"), Json::array());
}

TEST(BlameCommand, ExitsWithZeroIfNothingIsWrong) {
  const TemporaryDirectory folder;
  write(folder, {.ranks = 1, .reason = "SIGUSR2", .calls = {{.begun = 1, .ended = 2}}});
  const Outcome outcome = tutti("blame " + folder.path("flight-1-0-0.jsonl"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("Nothing is wrong"), std::string::npos) << outcome.out;
}

TEST(BlameCommand, ReportsFilesThatItCannotRead) {
  const TemporaryDirectory folder;
  write_three(folder);
  const std::string whole = folder.read("flight-1-0-0.jsonl");
  std::ofstream(folder.path("flight-1-0-0.jsonl")) << whole.substr(0, whole.size() - 9);
  std::ofstream(folder.path("flight-1-0-3.jsonl")) << "";
  const Outcome outcome = tutti("blame " + folder.path());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("flight-1-0-0.jsonl, line 3, is skipped: it is cut off"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("flight-1-0-3.jsonl is not a dump"), std::string::npos) << outcome.err;
}

TEST(BlameCommand, RefusesFilesThatAreNotDumps) {
  const TemporaryDirectory folder;
  const Outcome empty = tutti("blame " + folder.path());
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_NE(empty.err.find("were the ranks started with TUTTI_FLIGHT="), std::string::npos)
      << empty.err;
  std::ofstream(folder.path("flight-x.jsonl")) << "[]";
  EXPECT_EQ(tutti("blame " + folder.path()).exit_code, 2);
  const Outcome bad = tutti("blame " + folder.path("flight-x.jsonl"));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.err.find("is not a dump of tutti's flight recorder"), std::string::npos) << bad.err;
  const Outcome none = tutti("blame " + folder.path("nothing"));
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("cannot read the file"), std::string::npos) << none.err;
  EXPECT_EQ(tutti("blame").exit_code, 2);
}

}  // namespace
}  // namespace tutti::test
