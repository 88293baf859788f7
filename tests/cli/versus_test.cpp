#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "core/json_value.hpp"
#include "support/command.hpp"
#include "support/errors.hpp"
#include "support/running_command.hpp"
#include "versus/command.hpp"
#include "versus/contender.hpp"
#include "versus/report.hpp"

namespace tutti::test {
namespace {

using cli::Contender;
using cli::Library;
using cli::parse_peer_wish;
using cli::VersusField;
using cli::VersusResult;
using cli::VersusResults;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The beginning of every script that stands in for a library: it records its name and pid.
constexpr const char* preamble = R"(#!/bin/sh
here=$(dirname "$0")
[ "${TUTTI_RANK:-0}" = 0 ] || exec cat >/dev/null
name=$(basename "$0")
for word; do case $word in bcube) name=bcube;; private) name=private;; esac; done
echo "$name $$" >>"$here/pids"
answer() {
  echo "{\"version\": \"1.2\", \"median_us\": $1, \"p10_us\": $1, \"p90_us\": $1, \"iterations\": 5, \"wrong\": ${2:-null}}"
}
)";

/// A folder with scripts in place of the peers' programs.
class Stage {
 public:
  Stage() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    play("tutti",
         "while read -r line; do echo \"$name $line\" >>\"$here/turns\"; answer 50 0; done");
  }
  ~Stage() { std::filesystem::remove_all(path_); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Writes the script of a library. Its variable `name` is bcube for that algorithm of Gloo.
  void play(const std::string& library, const std::string& script) const {
    const std::filesystem::path path = path_ / library;
    std::ofstream(path) << preamble << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string text(const char* name) const { return read(path_ / name); }
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::istringstream lines(text("pids"));
    std::vector<pid_t> found;
    std::string name;
    for (pid_t pid = 0; lines >> name >> pid;) found.push_back(pid);
    return found;
  }

  [[nodiscard]] std::string arguments(const std::string& more) const {
    return "bench allreduce -n 2 -b 8 -e 64 -f 8 --transport tcp --peers " + path_.string() + " " +
           more;
  }

 private:
  std::filesystem::path path_;
};

constexpr const char* follow =
    "while read -r line; do echo \"$name $line\" >>\"$here/turns\"; answer 100 0; done";

TEST(Versus, TakesTurnsAndPrintsRatios) {
  const Stage stage;
  stage.play("gloo", follow);
  const Outcome run = tutti(stage.arguments("--vs gloo:ring --rounds 2 --seconds 0.01"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "gloo  2.00x")) << run.out;
  EXPECT_TRUE(contains(run.out, "tutti 1.2")) << run.out;
  EXPECT_TRUE(contains(run.out, "# Out of bounds values : 0 OK")) << run.out;
  std::istringstream turns(stage.text("turns"));
  std::string order;
  for (std::string line; std::getline(turns, line);) {
    if (!contains(line, "barrier")) order += line.front();
  }
  EXPECT_EQ(order, "tggttggt")
      << "two sizes, two rounds each, and each round begins with another contender";
  EXPECT_TRUE(contains(stage.text("turns"), "gloo allreduce 64 0.01")) << stage.text("turns");
  EXPECT_TRUE(contains(stage.text("turns"), " dtype=f32 op=sum root=0 least=5 check="));
}

TEST(Versus, ContinuesWithoutMissingPrograms) {
  const Stage stage;
  stage.play("gloo", follow);
  const Outcome run = tutti(stage.arguments("--vs openmpi:ring,gloo:ring --rounds 1 --iters 3"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "openmpi:ring: there is no program " + stage.file("openmpi")))
      << run.err;
  EXPECT_TRUE(contains(run.err, "'./dev peers' installs")) << run.err;
  EXPECT_TRUE(contains(run.err, "going on without it")) << run.err;
  EXPECT_TRUE(contains(run.out, "gloo  2.00x")) << run.out;
}

TEST(Versus, RefusesWithoutOtherLibraries) {
  const Stage stage;
  const Outcome run = tutti(stage.arguments("--vs gloo --rounds 1"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "none of the libraries of --vs is left")) << run.err;
  EXPECT_TRUE(contains(run.err, "./dev peers")) << run.err;
}

/// An installed command has no program for it.
TEST(Versus, NamesTheCureIfItIsNotThere) {
  const Stage stage;
  std::filesystem::copy_file(TUTTI_COMMAND, stage.file("alone"));
  const Outcome run = shell("\"" + stage.file("alone") + "\" " + stage.arguments("--vs gloo"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "cannot start " + stage.file("bench/tutti-versus"))) << run.err;
  EXPECT_TRUE(contains(run.err, "'./dev peers' builds all that it needs")) << run.err;
}

TEST(Versus, ReportsACrashAndContinues) {
  const Stage stage;
  stage.play("gloo", std::string("if [ $name = bcube ]; then read -r line; answer 9; read -r line; "
                                 "echo 'out of luck' >&2; exit 3; fi\n") +
                         follow);
  const Outcome run =
      tutti(stage.arguments("--vs gloo:bcube,gloo:ring --rounds 2 --json " + stage.file("json")));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "gloo:bcube: asked for 'allreduce 8 ")) << run.err;
  EXPECT_TRUE(contains(run.err, "', it exited with code 3: out of luck; going on without it"))
      << run.err;
  EXPECT_TRUE(contains(run.out, "gloo  2.00x")) << run.out;
  const Json failures = Json::parse(stage.text("json")).at("versus").at("failures");
  ASSERT_EQ(failures.size(), 1);
  EXPECT_EQ(failures[0].at("who"), "gloo:bcube");
}

TEST(Versus, StopsWaitingForAnAnswer) {
  const Stage stage;
  stage.play("gloo", std::string("if [ $name = bcube ]; then read -r line; answer 9; exec sleep "
                                 "1000; fi\n") +
                         follow);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome run =
      tutti(stage.arguments("--vs gloo:bcube,gloo:ring --rounds 1 --patience 1 --iters 3"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "', no answer within 1 s; going on without it")) << run.err;
  EXPECT_TRUE(contains(run.out, "gloo  2.00x")) << run.out;
  for (const pid_t each : stage.pids()) EXPECT_TRUE(dies(each)) << stage.text("pids");
}

/// A contender that takes far too long gets one turn, and none at larger sizes.
TEST(Versus, DropsHopelessContenders) {
  const Stage stage;
  stage.play("gloo", std::string("if [ $name = bcube ]; then while read -r line; do case $line in "
                                 "barrier*) ;; *) sleep 0.8; esac; echo \"$name $line\" "
                                 ">>\"$here/turns\"; answer 1000 0; done; fi\n") +
                         follow);
  const Outcome run = tutti(stage.arguments("--vs gloo:bcube,gloo:ring --rounds 3 --seconds 0.01"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "gloo:bcube: at size 8 it takes 20 times as long as tutti"))
      << run.err;
  const std::string turns = stage.text("turns");
  EXPECT_TRUE(contains(turns, "bcube allreduce 8 "));
  EXPECT_EQ(turns.find("bcube allreduce"), turns.rfind("bcube allreduce")) << turns;
}

/// However the command ends, the processes that it has started end too.
TEST(Versus, LeavesNoProcessBehind) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const Stage stage;
    // The program has a child in another process group, as launchers do.
    stage.play("gloo",
               "setsid sh -c 'echo child $$ >>\"$0\"; exec sleep 1000' \"$here/pids\" &\n"
               "until grep -q child \"$here/pids\"; do sleep 0.01; done\n"
               "read -r line; answer 9; echo waiting >>\"$here/waits\"; sleep 1000");
    std::istringstream words(stage.arguments("--vs gloo:ring"));
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word);
    RunningCommand run(list);
    ASSERT_TRUE(run.await("redop")) << run.output();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (stage.text("waits").empty() && std::chrono::steady_clock::now() < deadline) {
      ::usleep(5000);
    }
    run.signal(signal);
    EXPECT_EQ(run.wait(), signal == SIGKILL ? -1 : 128 + signal);
    EXPECT_GE(stage.pids().size(), 3);
    for (const pid_t each : stage.pids()) {
      EXPECT_TRUE(dies(each)) << each << " of\n" << stage.text("pids") << "after " << signal;
    }
  }
}

/// However the command ends, the programs get time to remove their shared memory.
TEST(Versus, LetsProgramsCleanUp) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const Stage stage;
    stage.play("gloo",
               "echo >\"$here/segment\"; trap 'rm \"$here/segment\"' EXIT; trap 'exit 1' TERM\n"
               "read -r line; answer 9; echo waiting >>\"$here/waits\"\n"
               "for i in $(seq 200); do sleep 0.1; done");
    std::istringstream words(stage.arguments("--vs gloo:ring"));
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word);
    RunningCommand run(list);
    ASSERT_TRUE(run.await("redop")) << run.output();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (stage.text("waits").empty() && std::chrono::steady_clock::now() < deadline) {
      ::usleep(5000);
    }
    ASSERT_TRUE(std::filesystem::exists(stage.file("segment")));
    run.signal(signal);
    (void)run.wait();
    for (const pid_t each : stage.pids()) EXPECT_TRUE(dies(each)) << each;
    EXPECT_FALSE(std::filesystem::exists(stage.file("segment"))) << "after " << signal;
  }
}

TEST(Versus, FailsIfAResultIsWrong) {
  const Stage stage;
  stage.play("gloo", "while read -r line; do answer 100 7; done");
  const Outcome run = tutti(stage.arguments("--vs gloo:ring --rounds 1"));
  EXPECT_EQ(run.exit_code, 1) << run.out;
}

TEST(Versus, WritesFiles) {
  const Stage stage;
  stage.play("gloo", follow);
  const Outcome run =
      tutti(stage.arguments("--vs gloo:ring,gloo:bcube --rounds 2 --json " + stage.file("json") +
                            " --csv " + stage.file("csv") + " --plot " + stage.file("svg")));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json json = Json::parse(stage.text("json"));
  EXPECT_EQ(json.at("rows").size(), 2);
  const Json& versus = json.at("versus");
  EXPECT_EQ(versus.at("versions").at("gloo"), "1.2");
  EXPECT_EQ(versus.at("rounds"), 2);
  const Json& results = versus.at("rows").at(1).at("results");
  ASSERT_EQ(results.size(), 3);
  EXPECT_EQ(results[0].at("name"), "tutti");
  EXPECT_EQ(results[2].at("setting"), "bcube");
  EXPECT_EQ(results[2].at("ratio"), 2);
  EXPECT_EQ(results[2].at("medians_us").size(), 2);
  const std::string csv = stage.text("csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 3);
  EXPECT_TRUE(contains(csv, ",gloo,bcube,,2,10,100,100,100,")) << csv;
  EXPECT_TRUE(contains(stage.text("svg"), "gloo"));
  EXPECT_TRUE(contains(stage.text("svg"), "limit"));
}

/// As ./dev bench does.
TEST(Versus, ResultsBecomeADocumentationPage) {
  const Stage stage;
  stage.play("gloo", follow);
  const Outcome run = tutti(stage.arguments("--vs gloo:ring+in_place --rounds 2 --json " +
                                            stage.file("allreduce-tcp-2-fresh.json")));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::filesystem::copy_file(stage.file("allreduce-tcp-2-fresh.json"),
                             stage.file("allreduce-tcp-2-in_place.json"));
  const std::string report = "\"" TUTTI_GOLDEN_DIR "/../../bench/report\" " + stage.file("") + " " +
                             stage.file("page.md") + " " + stage.file("front.md");
  std::ofstream(stage.file("page.md")) << "before\n<!-- versus -->\nold\n<!-- /versus -->\nafter\n";
  std::ofstream(stage.file("front.md")) << "no marks\n";
  EXPECT_NE(shell(report).exit_code, 0);
  std::ofstream(stage.file("front.md"))
      << "<!-- fast -->\n<!-- /fast -->\n<!-- fast words --><!-- /fast words -->\n"
         "beside <!-- fast peers --><!-- /fast peers -->\n";
  const Outcome written = shell(report);
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const std::string page = stage.text("page.md");
  EXPECT_TRUE(page.starts_with("before\n<!-- versus -->\nMeasured on ")) << page;
  EXPECT_TRUE(page.ends_with(
      "- Two processes, TCP over loopback, 0 of 2 cases.\n"
      "- Two processes, TCP over loopback, in place, 0 of 2 cases.\n\n<!-- /versus -->\nafter\n"))
      << page;
  EXPECT_FALSE(contains(page, "old")) << page;
  EXPECT_TRUE(contains(page, "Gloo 1.2")) << page;
  EXPECT_TRUE(contains(page, "\n\n### Two processes, TCP over loopback\n")) << page;
  EXPECT_TRUE(contains(page, "\n### Two processes, TCP over loopback, in place\n")) << page;
  const std::string row = "| allreduce | 64 B | 50 | 50 – 50 | 100 (2.00×) ring";
  EXPECT_TRUE(contains(page, "| size | tutti, µs | p10 – p90 | Gloo |\n"))
      << "no columns for libraries that took no part: " << page;
  EXPECT_TRUE(contains(page, row + ", in place |")) << page;
  EXPECT_TRUE(contains(page, row + " |")) << "the heading says that it is in place: " << page;
  EXPECT_TRUE(contains(stage.text("front.md"), "| 2 processes, TCP | 50 (2.00×) | 50 (2.00×) |"))
      << stage.text("front.md");
}

TEST(Versus, RefusesUnknownWords) {
  const auto expect_refusal = [](const std::string& arguments, const std::string& part) {
    const Outcome run = tutti("bench allreduce " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_TRUE(contains(run.err, part)) << run.err;
  };
  const Stage stage;
  const std::string here = " --transport tcp --peers " + stage.file("");
  expect_refusal("-n 2 --vs opnmpi" + here, "Did you mean 'openmpi'?");
  expect_refusal("-n 2 --vs openmpi:rign" + here, "Did you mean 'ring'?");
  expect_refusal("-n 2 --vs gloo -d bfloat16", "the other libraries are not measured with bf16");
  expect_refusal("-n 2 --vs gloo -o avg", "the other libraries have no avg");
  expect_refusal("-n 2 --vs gloo --transport inproc", "--vs starts the ranks of every library");
}

/// With the real libraries, if their programs are built. Their results are checked.
TEST(SlowVersus, ComparesWithRealLibraries) {
  const std::filesystem::path peers =
      std::filesystem::path(TUTTI_COMMAND).parent_path() / "bench" / "peers";
  if (!std::filesystem::exists(peers / "openmpi") || !std::filesystem::exists(peers / "gloo")) {
    GTEST_SKIP() << "./dev peers builds what this compares with";
  }
  for (const std::string collective :
       {"allreduce", "allgather", "reduce_scatter", "broadcast", "reduce", "alltoall"}) {
    const Outcome run = tutti("bench " + collective +
                              " -n 2 -b 4K -e 4K --transport tcp --vs openmpi:yield1,gloo "
                              "--rounds 1 --iters 5");
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_TRUE(contains(run.out, "#")) << run.out;
    EXPECT_TRUE(contains(run.out, "  yield1")) << run.out << run.err;
    EXPECT_TRUE(contains(run.out, "gloo  ")) << run.out << run.err;
  }
}

TEST(SlowVersus, ComparesAlgorithmsToo) {
  if (!std::filesystem::exists(std::filesystem::path(TUTTI_COMMAND).parent_path() /
                               "bench/peers/openmpi")) {
    GTEST_SKIP() << "./dev peers builds what this compares with";
  }
  const Outcome run = tutti(
      "bench allreduce -n 4 --sizes 4K --algo ring,torus,auto --vs openmpi:yield1 --rounds 1 "
      "--iters 5");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err.find("going on without"), std::string::npos) << run.err;
  EXPECT_TRUE(contains(run.out, "  allreduce/torus\n")) << run.out;
  EXPECT_TRUE(contains(run.out, " allreduce/ring\n")) << run.out;
}

TEST(Contender, HasAName) {
  EXPECT_EQ((Contender{.library = Library::mpich}.name()), "mpich");
  const Contender one{.library = Library::gloo, .words = {"ring", "sync_busy"}, .in_place = true};
  EXPECT_EQ(one.name(), "gloo:ring+sync_busy+in_place");
  EXPECT_EQ(one.process(), "gloo:ring+sync_busy");
}

TEST(Contender, LibraryStandsForItsBestSettings) {
  const VersusField tcp{.collective = Collective::allreduce, .ranks = 2, .tcp = true};
  const VersusField shm{.collective = Collective::allreduce, .ranks = 2};
  const auto has = [](const std::vector<Contender>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Contender& each) { return each.name() == name; });
  };
  for (const VersusField& field : {tcp, shm}) {
    const std::vector<Contender> openmpi = cli::contenders(parse_peer_wish("openmpi"), field);
    for (const char* const name : {"openmpi", "openmpi:yield0", "openmpi:yield1", "openmpi:ring"}) {
      EXPECT_TRUE(has(openmpi, name)) << name;
    }
    EXPECT_TRUE(has(cli::contenders(parse_peer_wish("mpich"), field), "mpich"));
    EXPECT_FALSE(cli::contenders(parse_peer_wish("intelmpi"), field).empty());
    EXPECT_FALSE(cli::contenders(parse_peer_wish("oneccl"), field).empty());
    EXPECT_GT(cli::contenders(parse_peer_wish("openmpi:all"), field).size(), openmpi.size());
  }
  EXPECT_TRUE(has(cli::contenders(parse_peer_wish("gloo"), tcp), "gloo:ring"));
  EXPECT_TRUE(has(cli::contenders(parse_peer_wish("gloo"), tcp), "gloo:bcube"));
  // It has no shared memory, so it takes part over TCP.
  EXPECT_TRUE(has(cli::contenders(parse_peer_wish("gloo"), shm), "gloo:ring"));
  EXPECT_TRUE(has(cli::contenders(parse_peer_wish("direct"), shm), "direct"));
  EXPECT_TRUE(cli::contenders(parse_peer_wish("direct"), tcp).empty());
  EXPECT_EQ(cli::contenders(parse_peer_wish("gloo:ring"), tcp).size(), 1);
}

/// Otherwise the ranks of one host would exchange short messages through shared memory.
TEST(Contender, IntelMpiUsesTcpForEveryMessage) {
  const auto variables = [](Library library, bool tcp) {
    const VersusField field{.tcp = tcp};
    return cli::command_of({.library = library}, field, "peers").variables;
  };
  const auto has = [](const auto& list, const char* name, const char* value) {
    return std::find(list.begin(), list.end(), std::pair<std::string, std::string>(name, value)) !=
           list.end();
  };
  for (const Library library : {Library::intelmpi, Library::oneccl}) {
    EXPECT_TRUE(has(variables(library, true), "I_MPI_FABRICS", "ofi"));
    EXPECT_TRUE(has(variables(library, true), "I_MPI_COLL_INTRANODE", "pt2pt"));
    EXPECT_TRUE(has(variables(library, true), "FI_PROVIDER", "tcp"));
    EXPECT_TRUE(has(variables(library, false), "I_MPI_FABRICS", "shm"));
  }
}

/// A result whose rounds had these medians.
VersusResult result(Library library, std::vector<double> medians) {
  VersusResult made{.who = {.library = library}, .medians = std::move(medians)};
  made.finding.timing.median = made.medians[made.medians.size() / 2];
  return made;
}

TEST(VersusReport, IsConclusiveOnlyIfRoundsAgree) {
  const VersusResults all{result(Library::tutti, {9, 10, 11}),
                          result(Library::openmpi, {10.5, 12, 13}),
                          result(Library::gloo, {20, 30, 40}), result(Library::openmpi, {5, 6, 7})};
  EXPECT_DOUBLE_EQ(cli::ratio(all, all[2]), 3);
  EXPECT_FALSE(cli::is_conclusive(all, all[1]))
      << "the fastest round of one is faster than the slowest of the other";
  EXPECT_TRUE(cli::is_conclusive(all, all[2]));
  EXPECT_TRUE(cli::is_conclusive(all, all[3])) << "conclusive: tutti is slower";
}

TEST(VersusReport, TakesTheBestOfEachLibrary) {
  const VersusResults all{result(Library::tutti, {10}), result(Library::tutti, {20}),
                          result(Library::openmpi, {12}), result(Library::gloo, {30}),
                          result(Library::openmpi, {6})};
  const auto best = cli::best_of_each(all);
  ASSERT_EQ(best.size(), 3);
  EXPECT_EQ(best[0], &all[1]) << "tutti with another setting is listed by itself";
  EXPECT_EQ(best[1], &all[4]);
  EXPECT_EQ(best[2], &all[3]);
}

}  // namespace
}  // namespace tutti::test
