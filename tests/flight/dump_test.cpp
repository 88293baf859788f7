#include "flight/dump.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "flight/black_box.hpp"
#include "flight/dump_file.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "support/variable.hpp"

namespace tutti::test {
namespace {

using State = FlightRecord::State;

std::string dump_of(const FlightRecorder& recorder, const std::string& reason) {
  const TemporaryDirectory folder;
  EXPECT_EQ(write_dump(recorder, FlightRecorder({}), reason, folder.path("dump").c_str()), 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path("dump.part")));
  return folder.read("dump");
}

void record_some(FlightRecorder& recorder) {
  recorder.begin(1,
                 {.kind = FlightKind::reduce,
                  .dtype = DType::bf16,
                  .op = Op::max,
                  .signature = 0xDEADBEEF,
                  .root = 3,
                  .count = 5,
                  .bytes = 10,
                  .algorithm = "reduce/binomial"},
                 "a \"quoted\"\tsite");
  recorder.end();
  recorder.begin(1,
                 {.kind = FlightKind::send_receive, .root = 2, .from = 1, .count = 7, .bytes = 8});
  recorder.end();
  recorder.begin(2, {.kind = FlightKind::allgather,
                     .count = FlightCall::with_counts,
                     .bytes = ~std::uint64_t{0},
                     .algorithm = "allgather/ring"});
  recorder.fail();
  recorder.note_failure("rank 1 is gone");
  recorder.begin(3,
                 {.kind = FlightKind::allreduce, .is_custom = true, .algorithm = "allreduce/ring"});
  recorder.note_wait({.rank = 1, .round = 4, .bytes_done = 64});
}

void expect_same(const FlightRecord& a, const FlightRecord& b) {
  EXPECT_EQ(words(a), words(b));
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.call.signature, b.call.signature);
  EXPECT_EQ(a.call.bytes, b.call.bytes);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.wait, b.wait);
  // The clocks were read twice.
  EXPECT_NEAR(static_cast<double>(a.begun_ns), static_cast<double>(b.begun_ns), 1e6);
  EXPECT_NEAR(static_cast<double>(a.ended_ns), static_cast<double>(b.ended_ns), 1e6);
}

TEST(Dump, RoundTrips) {
  FlightRecorder recorder(
      {.communicator = 0xFEDCBA9876543210, .name = "world", .self = Rank{2}, .ranks = 4});
  record_some(recorder);
  const FlightDump dump = parse_dump(dump_of(recorder, "error"), "x");
  EXPECT_EQ(dump.communicator, 0xFEDCBA9876543210);
  EXPECT_EQ(dump.name, "world");
  EXPECT_EQ(dump.rank, 2U);
  EXPECT_EQ(dump.ranks, 4U);
  EXPECT_EQ(dump.pid, static_cast<std::uint64_t>(getpid()));
  EXPECT_EQ(dump.reason, "error");
  EXPECT_EQ(dump.failure, "rank 1 is gone");
  EXPECT_FALSE(dump.host.empty());
  EXPECT_GT(dump.wall_ns, dump.steady_ns);
  EXPECT_TRUE(dump.faults.empty());
  const std::vector<FlightRecord> records = recorder.all();
  ASSERT_EQ(dump.records.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) expect_same(dump.records[i], records[i]);
  EXPECT_EQ(dump.records.front().site.text(), "a \"quoted\"\tsite");
}

TEST(Dump, IsValidJsonForAnyBytes) {
  FlightRecorder recorder({.name = "\xFF\xC3"});
  const std::string cut = std::string(30, 'x') + "\xC3\xA4";
  recorder.begin(1, {}, cut);
  recorder.fail();
  recorder.note_failure("tab\tquote\"slash\\zero" + std::string(1, '\0') +
                        "\x80 \xC3\xA4 \xED\xA0\x80");
  const std::string text = dump_of(recorder, "error");
  const auto header = Json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(header.at("name"), "??");
  EXPECT_EQ(header.at("failure"),
            "tab\tquote\"slash\\zero" + std::string(1, '\0') + "? \xC3\xA4 ???");
  EXPECT_EQ(parse_dump(text, "x").records.at(0).site.text(), std::string(30, 'x') + "?");
}

TEST(Dump, ReportsLinesThatAreCutOffOrGarbled) {
  FlightRecorder recorder({});
  record_some(recorder);
  std::string text = dump_of(recorder, "error");
  const std::size_t second = text.find('\n') + 1;
  text[text.find("reduce", second)] = 'X';
  text.resize(text.size() - 20);
  const FlightDump dump = parse_dump(text, "some.jsonl");
  EXPECT_EQ(dump.records.size(), 2U);
  ASSERT_EQ(dump.faults.size(), 2U);
  EXPECT_EQ(dump.faults[0], "some.jsonl, line 2, is skipped: unknown kind of call \"Xeduce\"");
  EXPECT_EQ(dump.faults[1], "some.jsonl, line 5, is skipped: it is cut off or garbled");
}

TEST(Dump, ParseRejectsOtherFiles) {
  const auto refused = [](const std::string& text, const std::string& part) {
    expect_error([&] { (void)parse_dump(text, "x.jsonl"); }, ErrorCode::invalid_argument, part);
  };
  refused("", "x.jsonl is not a dump of tutti's flight recorder");
  refused("[]\n", "line 1: at /: expected an object in braces, not an array");
  refused("{\"tutti\":1}\n", "line 1: at /tutti: expected a string, not 1");
  refused("{\"tutti\":\"0.1.0\"}\n", "line 1: at /: the member \"communicator\" is missing");
  FlightRecorder recorder({.self = Rank{4}, .ranks = 4});
  refused(dump_of(recorder, "error"), "there is no rank 4 among 4 ranks");
}

TEST(Dump, IsWrittenAtomically) {
  const TemporaryDirectory folder;
  const std::string path = folder.path("dump");
  std::ofstream(path) << "what was there";
  FlightRecorder recorder({});
  record_some(recorder);
  EXPECT_EQ(write_dump(recorder, FlightRecorder({}), "error", folder.path("no/such").c_str()),
            ENOENT);
  // A file size limit simulates a full disk.
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{.rlim_cur = 100, .rlim_max = 100};
    setrlimit(RLIMIT_FSIZE, &none);
    ::signal(SIGXFSZ, SIG_IGN);
    _exit(write_dump(recorder, FlightRecorder({}), "error", path.c_str()) == EFBIG ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.read("dump"), "what was there");
  EXPECT_FALSE(std::filesystem::exists(folder.path("dump.part")));
}

TEST(FlightSettings, ErrorNamesValidValues) {
  const TemporaryDirectory folder;
  {
    const Variable records("TUTTI_FLIGHT_RECORDS", "0");
    expect_error([] { (void)flight_settings_from_environment(); }, ErrorCode::invalid_argument,
                 "TUTTI_FLIGHT_RECORDS is \"0\"; set it to a number of calls from 1 to");
  }
  std::ofstream(folder.path("file")) << "x";
  const Variable wrong("TUTTI_FLIGHT", folder.path("file/below"));
  expect_error([] { (void)flight_settings_from_environment(); }, ErrorCode::invalid_argument,
               "set it to a writable directory: Not a directory");
}

TEST(FlightSettings, AreReadFromTheEnvironment) {
  EXPECT_EQ(flight_settings_from_environment().directory, "");
  EXPECT_EQ(flight_settings_from_environment().records, 256U);
  const TemporaryDirectory folder;
  const Variable records("TUTTI_FLIGHT_RECORDS", "12");
  const Variable flight("TUTTI_FLIGHT", folder.path("a/b"));
  EXPECT_EQ(flight_settings_from_environment().records, 12U);
  EXPECT_EQ(flight_settings_from_environment().directory, folder.path("a/b"));
  EXPECT_TRUE(std::filesystem::is_directory(folder.path("a/b")));
}

}  // namespace
}  // namespace tutti::test
