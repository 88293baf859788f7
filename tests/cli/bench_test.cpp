#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tutti/collective.hpp>

#include "cli/bench_case.hpp"
#include "cli/bench_limit.hpp"
#include "support/command.hpp"
#include "support/golden.hpp"
#include "support/running_command.hpp"

namespace tutti::test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

/// The rows of the table: all lines that are no comments.
std::vector<std::vector<std::string>> rows(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::vector<std::string>> found;
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("#")) found.push_back(words(line));
  }
  return found;
}

constexpr std::size_t size_column = 0;
constexpr std::size_t count_column = 1;
constexpr std::size_t type_column = 2;
constexpr std::size_t op_column = 3;
constexpr std::size_t root_column = 4;
constexpr std::size_t time_column = 5;
constexpr std::size_t wrong_column = 8;
constexpr std::size_t wrong_in_place_column = 12;
constexpr std::size_t limit_column = 13;
constexpr std::size_t algorithm_column = 14;
constexpr std::size_t columns = 15;

/// Expects a run that went well, and returns its rows.
std::vector<std::vector<std::string>> measured(const std::string& arguments) {
  const Outcome run = tutti("bench " + arguments);
  EXPECT_EQ(run.exit_code, 0) << arguments << "\n" << run.out << run.err;
  EXPECT_TRUE(contains(run.out, "# Out of bounds values : 0 OK\n")) << run.out;
  EXPECT_TRUE(contains(run.out, "# Avg bus bandwidth    : ")) << run.out;
  const auto found = rows(run.out);
  for (const auto& row : found) {
    EXPECT_EQ(row.size(), columns) << run.out;
    if (row.size() != columns) return {};
    EXPECT_GT(std::stod(row[time_column]), 0);
    EXPECT_EQ(row[wrong_column], "0") << run.out;
    EXPECT_TRUE(row[wrong_in_place_column] == "0" || row[wrong_in_place_column] == "N/A")
        << run.out;
  }
  return found;
}

void expect_refusal(const std::string& arguments, const std::string& part) {
  const Outcome run = tutti("bench " + arguments);
  EXPECT_EQ(run.exit_code, 2) << arguments << "\n" << run.out;
  EXPECT_TRUE(contains(run.err, part)) << arguments << "\n" << run.err;
  EXPECT_EQ(run.out, "");
}

/// A file that goes when the test is over.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
    ::close(::mkstemp(pattern.data()));
    path_ = pattern;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path path_;
};

TEST(Golden, BenchHelp) { expect_golden("cli/bench-help.txt", tutti("bench --help").out); }

TEST(Bench, PrintsARowForEachSize) {
  const auto found = measured("allreduce -n 2 -b 8 -e 4K -f 8 --iters 5");
  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0][size_column], "8");
  EXPECT_EQ(found[3][size_column], "4096");
  EXPECT_EQ(found[3][count_column], "1024");
  EXPECT_EQ(found[3][type_column], "float");
  EXPECT_EQ(found[3][op_column], "sum");
  EXPECT_EQ(found[3][root_column], "-1");
  EXPECT_GE(std::stod(found[3][limit_column]), 0);
  EXPECT_TRUE(found[3][algorithm_column].starts_with("allreduce/"));
}

TEST(Bench, HasTheHeadOfNcclTests) {
  const std::string out = tutti("bench allreduce -n 2 -b 8 -e 8 --iters 2 -w 1").out;
  EXPECT_TRUE(contains(out, "# minBytes 8 maxBytes 8 step: 4(factor) warmup iters: 1 iters: 2"))
      << out;
  EXPECT_TRUE(contains(out, "2 ranks, shared memory, buffers shared")) << out;
  EXPECT_TRUE(contains(out, "out-of-place")) << out;
  EXPECT_TRUE(contains(out, "#       size         count      type   redop    root")) << out;
}

TEST(Bench, DoesEveryCollective) {
  for (const Collective each : collectives()) {
    const auto found = measured(std::string(name(each)) + " -n 2 -b 1K -e 1K --iters 3 -r 1");
    ASSERT_EQ(found.size(), 1) << name(each);
    EXPECT_EQ(found[0][root_column], has_root(each) ? "1" : "-1") << name(each);
  }
}

TEST(Bench, GoesByThreadsAndByTcp) {
  for (const std::string way : {"inproc", "tcp", "shm"}) {
    EXPECT_EQ(measured("allgather -n 3 -b 64 -e 6K -f 64 --iters 3 --transport " + way).size(), 2);
  }
  EXPECT_TRUE(contains(tutti("bench barrier -n 2 --iters 3 --transport inproc").out, "threads"));
  EXPECT_TRUE(contains(tutti("bench barrier -n 2 --iters 3 --transport tcp").out, "loopback"));
}

TEST(Bench, AddsStepsInBytes) {
  const auto found = measured("broadcast -n 2 -b 1K -e 3K -i 1K --iters 2 --transport inproc");
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[1][size_column], "2048");
}

TEST(Bench, LeavesOutSizesBelowOneElementForEachRank) {
  const auto found = measured("allgather -n 3 -b 1 -e 16 -f 2 --iters 2 --transport inproc");
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0][size_column], "12");
}

TEST(Bench, TakesAlgorithms) {
  const auto two = measured(
      "allreduce -n 3 -b 1K -e 1K --iters 2 --transport inproc --algo ring,allreduce/mesh");
  ASSERT_EQ(two.size(), 2);
  EXPECT_EQ(two[0][algorithm_column], "allreduce/ring");
  EXPECT_EQ(two[1][algorithm_column], "allreduce/mesh");
  const auto again =
      measured("allreduce -n 3 -b 1K -e 1K --iters 2 --transport inproc --algo ring --algo auto");
  EXPECT_EQ(again.size(), 2);
  EXPECT_GT(measured("allreduce -n 6 -b 1K -e 1K --iters 2 --transport inproc --algo all").size(),
            8);
}

TEST(Bench, TakesTypesAndOperations) {
  const auto types =
      measured("allreduce -n 3 -b 1K -e 1K --iters 2 --transport inproc -d all -o all");
  EXPECT_EQ(types.size(), 6 * 8 + 4 * 5);
  EXPECT_EQ(measured("reduce -n 2 -b 64 -e 64 --iters 2 -d bf16")[0][type_column], "bfloat16");
  EXPECT_EQ(measured("reduce -n 2 -b 64 -e 64 --iters 2 -d half -o avg")[0][op_column], "avg");
}

TEST(Bench, TakesPrivateMemory) {
  EXPECT_EQ(measured("allreduce -n 2 -b 256K -e 256K --iters 2 --private").size(), 1);
}

TEST(Bench, ChecksOnlyIfAsked) {
  const Outcome run = tutti("bench allreduce -n 2 -b 8 -e 8 --iters 2 -c 0 --transport inproc");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(rows(run.out).at(0).at(wrong_column), "N/A");
}

TEST(Bench, WritesJson) {
  const TemporaryFile file;
  (void)measured("reduce_scatter -n 2 -b 64 -e 1K -f 16 --iters 5 --json " + file.path());
  const Json json = Json::parse(file.text());
  EXPECT_EQ(json.at("collective"), "reduce_scatter");
  EXPECT_EQ(json.at("ranks"), 2);
  EXPECT_EQ(json.at("wrong"), 0);
  EXPECT_GE(json.at("machine").at("memory").size(), 1);
  ASSERT_EQ(json.at("rows").size(), 2);
  const Json& row = json.at("rows").at(1);
  EXPECT_EQ(row.at("bytes"), 1024);
  EXPECT_EQ(row.at("count"), 128);
  EXPECT_EQ(row.at("dtype"), "f32");
  EXPECT_GT(row.at("limit_us"), 0);
  EXPECT_EQ(row.at("out_of_place").at("iterations"), 5);
  EXPECT_LE(row.at("in_place").at("p10_us"), row.at("in_place").at("p90_us"));
}

TEST(Bench, WritesCsv) {
  const TemporaryFile file;
  (void)measured("gather -n 2 -b 64 -e 1K -f 16 --iters 5 --csv " + file.path());
  std::istringstream text(file.text());
  std::size_t lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 16) << line;
    EXPECT_TRUE(line.starts_with(lines == 0 ? "collective,ranks,bytes" : "gather,2,")) << line;
  }
  EXPECT_EQ(lines, 1 + 2 * 2);
}

TEST(Bench, IsARankOfOtherLaunchers) {
  const Outcome run = tutti("run -n 3 --no-prefix -- " + std::string(TUTTI_COMMAND) +
                            " bench allreduce -b 1K -e 1K --iters 2");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "3 ranks, shared memory")) << run.out;
  EXPECT_EQ(rows(run.out).size(), 1) << run.out;
}

TEST(Bench, EndsQuietlyWhenNobodyReads) {
  RunningCommand run({"bench", "allreduce", "-n", "2", "-b", "8", "-e", "1M", "-f", "2"});
  EXPECT_TRUE(run.await("size")) << run.output();
  run.close_output();
  EXPECT_EQ(run.wait(false), 128 + SIGPIPE);
}

TEST(Bench, SaysWhatIsWrongWithTheQuestion) {
  expect_refusal("allreduce", "how many ranks? Add -n");
  expect_refusal("allredcue -n 2", "Did you mean 'allreduce'?");
  expect_refusal("allreduce -n 2 -d flaot", "Did you mean 'float'?");
  expect_refusal("allreduce -n 2 -o summ", "Did you mean 'sum'?");
  expect_refusal("allreduce -n 2 -o band", "band is for integers");
  expect_refusal("allreduce -n 2 --algo rign", "Did you mean 'allreduce/ring'?");
  expect_refusal("allreduce -n 2 --algo broadcast/flat", "does no allreduce");
  expect_refusal("allreduce -n 2 --transport pigeon", "pigeon");
  expect_refusal("allreduce -n 2 -c 3", "3 not in {0,1}");
  expect_refusal("allreduce -n 2 -b 4X", "4X");
  expect_refusal("allreduce -n 2 -b 64 -e 8", "is above");
  expect_refusal("allreduce -n 2 -i 0", "never comes to an end");
  expect_refusal("allreduce -n 2 -i 8 -f 2", "excludes");
  expect_refusal("broadcast -n 2 -r 2", "root 2 is not one of the ranks 0 to 1");
  expect_refusal("allreduce -n 2 --json /nowhere/at/all", "cannot write to '/nowhere/at/all'");
}

TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(cli::bus_factor(Collective::allreduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(cli::bus_factor(Collective::allgather, 4), 0.75);
  EXPECT_DOUBLE_EQ(cli::bus_factor(Collective::alltoall, 4), 0.75);
  EXPECT_DOUBLE_EQ(cli::bus_factor(Collective::broadcast, 4), 1);
  EXPECT_DOUBLE_EQ(cli::bus_factor(Collective::barrier, 4), 0);
}

/// The formulas of docs/performance.md, on a machine with round figures.
TEST(BenchLimit, FollowsTheFormulas) {
  cli::BenchMachine machine{.cores = 2,
                            .memory = {{.bytes = 1 << 10, .copy = 1e12, .sum = 1e12},
                                       {.bytes = 1 << 20, .copy = 1e10, .sum = 1e9}},
                            .flag = 1e-6};
  const auto limit = [&](Collective collective) {
    return cli::limit_seconds(machine, collective, 4, 1'000'000);
  };
  EXPECT_NEAR(limit(Collective::allreduce), 1e-3 + 3e-4 + 2e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::reduce_scatter), 1e-3 + 2e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::broadcast), 3e-4 + 2e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::gather), 0.75e-4 + 2e-6, 1e-12);
  EXPECT_NEAR(limit(Collective::barrier), 2e-6, 1e-12);
  machine.loopback = {.rate = 1e9, .latency = 1e-5};
  EXPECT_NEAR(limit(Collective::allreduce), 6e-3 + 1e-3 + 1e-5, 1e-12);
  EXPECT_NEAR(limit(Collective::alltoall), 3e-3 + 1e-5, 1e-12);
}

}  // namespace
}  // namespace tutti::test
