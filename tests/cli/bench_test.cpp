#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <tutti/collective.hpp>

#include "core/json_value.hpp"
#include "net/socket.hpp"
#include "support/command.hpp"
#include "support/golden.hpp"
#include "support/pattern.hpp"
#include "support/running_command.hpp"

namespace tutti::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

std::string pad(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, text.size()), ' ') + text;
}

/// The rows of the table: all lines that are not comments.
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
constexpr std::size_t columns = 13;

/// The details of each row, after the table: size, calls, p10, p50, p90, limit, %limit and the
/// algorithm, without the mark of a wide spread.
std::vector<std::vector<std::string>> details(const std::string& text) {
  std::istringstream stream(text.substr(text.find("# Collective test concluded")));
  std::vector<std::vector<std::string>> found;
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> cells = words(line.substr(1));
    std::erase(cells, "!");
    if (cells.size() == 8 && std::isdigit(cells[0].front()) != 0) found.push_back(cells);
  }
  return found;
}
constexpr std::size_t limit_detail = 5;
constexpr std::size_t share_detail = 6;
constexpr std::size_t algorithm_detail = 7;

/// Expects a run without errors and returns its rows.
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

/// A file that is removed at the end of the test.
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
}

TEST(Bench, PrintsDetailsOfEachRow) {
  const Outcome run = tutti("bench allreduce -n 2 -b 8 -e 4K -f 512 --iters 11 --transport inproc");
  const auto found = details(run.out);
  ASSERT_EQ(found.size(), 2) << run.out;
  EXPECT_EQ(found[1][0], "4096");
  EXPECT_EQ(found[1][1], "11");
  EXPECT_LE(std::stod(found[1][2]), std::stod(found[1][3]));
  EXPECT_LE(std::stod(found[1][3]), std::stod(found[1][4]));
  EXPECT_EQ(found[1][limit_detail], "-") << "--limit was not given";
  EXPECT_TRUE(found[1][algorithm_detail].starts_with("allreduce/"));
}

TEST(Bench, ShowsTheShareOfTheLimit) {
  const Outcome run = tutti("bench allreduce -n 2 -b 64K -e 64K --iters 5 --limit");
  EXPECT_TRUE(contains(run.out, "# Limit of ")) << run.out;
  EXPECT_TRUE(contains(run.out, "copy ")) << run.out;
  const auto found = details(run.out);
  ASSERT_EQ(found.size(), 1) << run.out;
  EXPECT_GT(std::stod(found[0][limit_detail]), 0);
  EXPECT_GT(std::stod(found[0][share_detail]), 0);
}

TEST(Bench, HasTheHeadOfNcclTests) {
  const std::string out = tutti("bench allreduce -n 2 -b 8 -e 8 --iters 2 -w 1").out;
  EXPECT_TRUE(contains(out,
                       "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 4(factor) warmup iters: 1 "
                       "iters: 2 agg iters: 1 validation: 1 graph: 0\n"))
      << out;
  EXPECT_TRUE(contains(out, "2 ranks, shared memory, buffers shared")) << out;
  EXPECT_TRUE(search(out, "\n#  Rank  1 Group  0 Pid +\\d+ on +\\S+ device  1 \\[\\w+\\] ")) << out;
  // The columns of nccl-tests 2.19.
  EXPECT_TRUE(contains(out,
                       "#                                                    "
                       "          out-of-place                       in-place          \n"))
      << out;
  EXPECT_TRUE(contains(out,
                       "#       size         count      type   redop    root     time   algbw   "
                       "busbw  #wrong     time   algbw   busbw  #wrong\n"))
      << out;
  EXPECT_TRUE(contains(out,
                       "#        (B)    (elements)                               (us)  (GB/s)  "
                       "(GB/s)             (us)  (GB/s)  (GB/s)        \n"))
      << out;
}

/// The three ways in which programs parse tables of nccl-tests: by one pattern for a whole line, by
/// the names in the head counted from the end of the line, and by fixed columns from the end.
TEST(Bench, TableIsParsedLikeNcclTests) {
  const std::string out =
      tutti("bench allreduce -n 2 -b 8 -e 64K -f 8 --algo ring,auto --limit --transport inproc")
          .out;
  const std::string pattern =
      R"(^ *(\d+) +(\d+) +(\w+) +(\w+) +(-?\d+) +([\d.]+) +([\d.]+) +([\d.]+) +(\S+) +([\d.]+) +([\d.]+) +([\d.]+) +(\S+) *$)";
  const std::size_t begin = out.find("out-of-place");
  const std::size_t end = out.find("Out of bounds values");
  ASSERT_TRUE(begin < end && end < out.size()) << out;
  std::istringstream between(out.substr(begin, end - begin));
  std::vector<std::string> head;
  std::size_t found = 0;
  for (std::string line; std::getline(between, line);) {
    if (contains(line, "time") && contains(line, "busbw")) head = words(line.substr(1));
    const auto row = match(line, pattern);
    if (!row) continue;
    ++found;
    const std::vector<std::string> cells = words(line);
    const auto busbw = std::find(head.begin(), head.end(), "busbw");
    ASSERT_NE(busbw, head.end());
    EXPECT_EQ(cells.at(cells.size() - static_cast<std::size_t>(head.end() - busbw)), row->at(8));
    EXPECT_EQ(cells.at(cells.size() - 6), row->at(8));
    EXPECT_EQ(line.substr(0, 12), pad(row->at(1), 12)) << "in the columns of nccl-tests";
    EXPECT_EQ(line.substr(52, 9), pad(row->at(6), 9));
    EXPECT_EQ(line.substr(69, 8), pad(row->at(8), 8));
  }
  EXPECT_EQ(found, 2 * 5) << out;
  const auto average = search(out, "# Avg bus bandwidth +: ([0-9.e+-]+)");
  ASSERT_TRUE(average);
  EXPECT_GT(std::stod(average->at(1)), 0);
}

TEST(Bench, MeasuresEveryCollective) {
  for (const Collective each : collectives()) {
    const auto found = measured(std::string(name(each)) + " -n 2 -b 1K -e 1K --iters 3 -r 1");
    ASSERT_EQ(found.size(), 1) << name(each);
    EXPECT_EQ(found[0][root_column], has_root(each) ? "1" : "-1") << name(each);
  }
}

TEST(Bench, UsesEveryTransport) {
  for (const std::string way : {"inproc", "tcp", "shm"}) {
    EXPECT_EQ(measured("allgather -n 3 -b 64 -e 6K -f 64 --iters 3 --transport " + way).size(), 2);
  }
  EXPECT_TRUE(contains(tutti("bench barrier -n 2 --iters 3 --transport inproc").out, "threads"));
  EXPECT_TRUE(
      contains(tutti("bench barrier -n 2 --iters 3 --limit --transport tcp").out, "loopback"));
}

TEST(Bench, AddsStepsInBytes) {
  const auto found = measured("broadcast -n 2 -b 1K -e 3K -i 1K --iters 2 --transport inproc");
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[1][size_column], "2048");
}

TEST(Bench, MeasuresListedSizesWithBarriers) {
  const auto found =
      measured("reduce -n 2 --sizes 4K,64 --barrier --seconds 0.002 --transport inproc");
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0][size_column], "64");
  EXPECT_EQ(found[1][size_column], "4096");
}

TEST(Bench, MergesSizesBelowOneElementPerRank) {
  const auto found = measured("allgather -n 3 -b 1 -e 16 -f 2 --iters 2 --transport inproc");
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0][size_column], "12");
}

TEST(Bench, MeasuresAlgorithmsInBlocks) {
  const Outcome two = tutti(
      "bench allreduce -n 3 -b 1K -e 2K -f 2 --iters 2 --transport inproc --algo "
      "ring,allreduce/mesh");
  const auto found = details(two.out);
  ASSERT_EQ(found.size(), 4) << two.out;
  EXPECT_EQ(found[0][algorithm_detail], "allreduce/ring");
  EXPECT_EQ(found[1][algorithm_detail], "allreduce/ring");
  EXPECT_EQ(found[2][algorithm_detail], "allreduce/mesh");
  EXPECT_LT(two.out.find("# algorithm allreduce/ring"), two.out.find("# algorithm allreduce/mesh"));
  const auto again =
      measured("allreduce -n 3 -b 1K -e 1K --iters 2 --transport inproc --algo ring --algo auto");
  EXPECT_EQ(again.size(), 2);
  EXPECT_GT(measured("allreduce -n 6 -b 1K -e 1K --iters 2 --transport inproc --algo all").size(),
            8);
}

/// Writes the schedule of an algorithm to a file, under another name.
void write_schedule(const TemporaryFile& file, const std::string& algorithm,
                    const std::string& ranks, const std::string& name) {
  std::string text = tutti("explain " + algorithm + " -p " + ranks + " --json").out;
  const std::string named = "\"name\": \"" + algorithm + "\"";
  ASSERT_TRUE(contains(text, named)) << text;
  text.replace(text.find(named), named.size(), "\"name\": \"" + name + "\"");
  std::ofstream(file.path()) << text;
}

TEST(Bench, MeasuresSchedulesFromFiles) {
  const TemporaryFile file;
  write_schedule(file, "allreduce/ring", "3", "my_ring");
  const std::string usual = "allreduce -n 3 -b 1K -e 2K -f 2 --iters 2 ";
  for (const char* const transport : {"inproc", "shm", "tcp"}) {
    const std::string arguments = usual + "--transport " + transport + " --schedule " + file.path();
    EXPECT_EQ(measured(arguments).size(), 2);
    const auto found = details(tutti("bench " + arguments).out);
    ASSERT_EQ(found.size(), 2);
    EXPECT_EQ(found[0][algorithm_detail], "my_ring");
  }
  const Outcome both =
      tutti("bench " + usual + "--transport inproc --algo ring --schedule " + file.path());
  EXPECT_LT(both.out.find("# algorithm allreduce/ring"), both.out.find("# schedule my_ring"));
  EXPECT_TRUE(contains(both.out, "# schedule my_ring")) << both.out;
}

TEST(Bench, RefusesSchedulesThatCannotBeRun) {
  const TemporaryFile file;
  write_schedule(file, "reduce/flat", "3", "mine");
  const std::string option = " --schedule " + file.path();
  expect_refusal("reduce -n 4" + option,
                 "is for reduce among 3 ranks with root 0, not for reduce "
                 "among 4 ranks with root 0");
  expect_refusal("reduce -n 3 -r 1" + option, "not for reduce among 3 ranks with root 1");
  expect_refusal("broadcast -n 3" + option, "not for broadcast among 3 ranks");
  expect_refusal("reduce -n 3 --schedule /nowhere/at/all", "there is no such file");
  expect_refusal("reduce -n 3 --vs openmpi" + option, "--vs");
  expect_refusal("reduce -n 3 --regret" + option, "--regret");
  std::string text = file.text();
  const std::string own = "\"own\", ";
  text.erase(text.find(own), own.size());
  std::ofstream(file.path()) << text;
  expect_refusal("reduce -n 3" + option, "'mine' cannot be run: it has 2 violations: wrong output");
  std::ofstream(file.path()) << "nonsense";
  expect_refusal("reduce -n 3" + option, "schedule JSON");
}

TEST(Bench, MeasuresTypesAndOperations) {
  const auto types =
      measured("allreduce -n 3 -b 1K -e 1K --iters 2 --transport inproc -d all -o all");
  EXPECT_EQ(types.size(), 8 * 8 + 6 * 5 + 2 * 3);
  EXPECT_EQ(measured("reduce -n 2 -b 64 -e 64 --iters 2 -d bf16")[0][type_column], "bfloat16");
  EXPECT_EQ(measured("reduce -n 2 -b 64 -e 64 --iters 2 -d half -o avg")[0][op_column], "avg");
}

TEST(Bench, MeasuresPrivateMemory) {
  EXPECT_EQ(measured("allreduce -n 2 -b 256K -e 256K --iters 2 --private").size(), 1);
  EXPECT_EQ(measured("allreduce -n 2 -b 256K -e 256K --iters 2 --prepared").size(), 1);
}

TEST(Bench, SkipsTheCheckIfAsked) {
  const Outcome run = tutti("bench allreduce -n 2 -b 8 -e 8 --iters 2 -c 0 --transport inproc");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(rows(run.out).at(0).at(wrong_column), "N/A");
}

TEST(Bench, WritesJson) {
  const TemporaryFile file;
  (void)measured("reduce_scatter -n 2 -b 64 -e 1K -f 16 --iters 5 --limit --json " + file.path());
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
  EXPECT_GT(row.at("limit_us").get<double>(), 0);
  EXPECT_EQ(row.at("out_of_place").at("iterations"), 5);
  EXPECT_LE(row.at("in_place").at("p10_us").get<double>(),
            row.at("in_place").at("p90_us").get<double>());
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

TEST(Bench, DrawsAPlot) {
  const TemporaryFile file;
  (void)measured(
      "allreduce -n 2 -b 64 -e 4K -f 8 --iters 5 --algo ring,auto --transport inproc "
      "--plot " +
      file.path());
  const std::string svg = file.text();
  EXPECT_TRUE(svg.starts_with("<svg") || svg.starts_with("<?xml")) << svg.substr(0, 100);
  for (const char* const part : {"allreduce/ring", "limit", "bus bandwidth", "time", "</svg>"}) {
    EXPECT_TRUE(contains(svg, part)) << part;
  }
}

/// The command line of a bench that a launcher starts as a rank.
std::string as_rank(const std::string& options = "") {
  return std::string(TUTTI_IN_SHELL) + " bench allreduce -b 1K -e 1K --iters 2 " + options;
}

void expect_one_table(const Outcome& run, const std::string& ranks) {
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, ranks + ", shared memory")) << run.out;
  EXPECT_EQ(rows(run.out).size(), 1) << run.out;
}

bool is_installed(const std::string& program) {
  return shell("command -v " + program).exit_code == 0;
}

TEST(Bench, IsARankOfTuttiRun) {
  expect_one_table(tutti("run -n 3 --no-prefix -- " + as_rank()), "3 ranks");
  const Outcome disagree = tutti("run -n 2 --no-prefix -- " + as_rank("-n 3"));
  EXPECT_EQ(disagree.exit_code, 2);
  EXPECT_TRUE(contains(disagree.err, "-n says 3 ranks, but")) << disagree.err;
}

TEST(Bench, IsARankOfOpenMpi) {
  if (!is_installed("mpirun.openmpi")) {
    GTEST_SKIP() << "mpirun.openmpi is missing: install the Debian package openmpi-bin";
  }
  expect_one_table(shell("mpirun.openmpi --allow-run-as-root --oversubscribe -np 2 " + as_rank()),
                   "2 ranks");
}

TEST(Bench, IsARankOfMpich) {
  if (!is_installed("mpiexec.hydra")) {
    GTEST_SKIP() << "mpiexec.hydra is missing: install the Debian package hydra";
  }
  expect_one_table(shell("mpiexec.hydra -n 2 " + as_rank("-n 2")), "2 ranks");
}

/// With the variables that torchrun sets.
TEST(Bench, IsARankOfTorchrun) {
  const Socket listener = listen_on(Endpoint::parse("127.0.0.1:0"), {});
  const std::string port = std::to_string(bound_to(listener).port());
  const std::string start =
      "WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port + " ";
  expect_one_table(shell(start + "RANK=1 LOCAL_RANK=1 " + as_rank() + " & " + start +
                         "RANK=0 LOCAL_RANK=0 " + as_rank() + " && wait $!"),
                   "2 ranks");
}

TEST(Bench, EndsWithoutAMessageWhenItsOutputIsClosed) {
  RunningCommand run({"bench", "allreduce", "-n", "2", "-b", "8", "-e", "1M", "-f", "2"});
  EXPECT_TRUE(run.await("size")) << run.output();
  run.close_output();
  EXPECT_EQ(run.wait(false), 128 + SIGPIPE);
}

TEST(Bench, RefusesWrongOptions) {
  expect_refusal("allreduce", "how many ranks? Add -n");
  expect_refusal("allredcue -n 2", "Did you mean 'allreduce'?");
  expect_refusal("allreduce -n 2 -d flaot", "Did you mean 'float'?");
  expect_refusal("allreduce -n 2 -o summ", "Did you mean 'sum'?");
  expect_refusal("allreduce -n 2 -o band", "band is for integers");
  expect_refusal("allreduce -n 2 --algo rign", "Did you mean 'allreduce/ring'?");
  expect_refusal("allreduce -n 2 --algo broadcast/flat", "is not an algorithm for allreduce");
  expect_refusal("allreduce -n 2 --transport pigeon", "pigeon");
  expect_refusal("allreduce -n 2 -c 3", "3 not in {0,1}");
  expect_refusal("allreduce -n 2 -b 4X", "4X");
  expect_refusal("allreduce -n 2 -b 64 -e 8", "is above");
  expect_refusal("allreduce -n 2 -i 0", "never reaches the largest size");
  expect_refusal("allreduce -n 2 -i 8 -f 2", "excludes");
  expect_refusal("broadcast -n 2 -r 2", "root 2 is not one of the ranks 0 to 1");
  expect_refusal("barrier -n 2 --plot barrier.svg", "a barrier has no sizes to plot over");
  expect_refusal("allreduce -n 2 --json /nowhere/at/all", "cannot write to '/nowhere/at/all'");
}

/// The ranks are renumbered; the results stay right.
TEST(Bench, TakesAnOrderOfRanks) {
  const Outcome found = tutti("bench allgather -n 3 --order 2,0,1 --sizes 3KiB --iters 3");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  ASSERT_EQ(rows(found.out).size(), 1U) << found.out;
  EXPECT_EQ(rows(found.out)[0][wrong_column], "0");
  const Outcome twice = tutti("bench allgather -n 2 --order 1,1 --sizes 3KiB --iters 3");
  EXPECT_NE(twice.exit_code, 0);
  EXPECT_TRUE(contains(twice.err + twice.out, "names '1' twice")) << twice.err;
}

}  // namespace
}  // namespace tutti::test
