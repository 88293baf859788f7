#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "select/profile.hpp"
#include "support/command.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

std::string in_shell(const std::string& words) { return "run -n 3 -- sh -c '" + words + "'"; }

constexpr const char* bench = "exec " TUTTI_IN_SHELL " bench allreduce -b 8 -e 8 --iters 1 -w 0";

TEST(Choose, ListsEveryCandidateWithTheReason) {
  const Outcome outcome = tutti("choose allreduce -n 4 --size 1MiB");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const Algorithm& each : algorithms(Collective::allreduce)) {
    if (each.needs_shape()) continue;
    EXPECT_NE(outcome.out.find(each.name), std::string::npos) << each.name;
  }
  EXPECT_NE(outcome.out.find("is expected to take"), std::string::npos) << outcome.out;
}

TEST(Choose, PrintsJson) {
  const Outcome outcome = tutti("choose broadcast -n 8 --size 4KiB --transport tcp --json");
  const auto document = Json::parse(outcome.out);
  EXPECT_EQ(document.at("bytes"), 4096);
  EXPECT_EQ(document.at("pairs"), "loopback");
  std::pair<bool, double> last{};
  for (const auto& each : document.at("candidates")) {
    const bool is_last = each.at("untried").get<bool>() || each.at("given_up").get<bool>();
    const std::pair at{is_last, each.at("seconds").get<double>()};
    EXPECT_GE(at, last);
    last = at;
  }
}

/// As `sim` does, unless a speed of sums is given.
TEST(Choose, OnANetworkSumsTakeNoTime) {
  const std::string question = "choose allreduce --topo torus:4x4 --size 1MiB";
  EXPECT_NE(tutti(question).out.find(
                "any number of messages in and out of a rank at once, those from one rank to "
                "another in order; dimension_order routes; sums take no time\n"),
            std::string::npos)
      << tutti(question).out;
  EXPECT_NE(tutti(question + " --gamma 20GB/s").out.find("sums at 20GB/s\n"), std::string::npos);
  EXPECT_NE(tutti(question + " --gamma profile").out.find(", by "), std::string::npos);
  const auto best = [&](const std::string& more) {
    const auto document = Json::parse(tutti(question + " --json" + more).out);
    return document.at("candidates").at(0).at("seconds").get<double>();
  };
  EXPECT_EQ(best(""), best(" --gamma 0"));
  EXPECT_LT(best(""), best(" --gamma profile"));
  const auto rules = Json::parse(tutti(question + " --gamma 20GB/s --json").out).at("rules");
  EXPECT_EQ(rules.at("ports"), 0);
  EXPECT_EQ(rules.at("routes"), "dimension_order");
  EXPECT_EQ(rules.at("gamma"), 1 / 20e9);
}

TEST(Choose, ExplainsSchedulesOfRules) {
  const TemporaryDirectory folder;
  const std::string path = folder.path("ring.json");
  std::ofstream(path) << tutti("explain broadcast/chain -p 4 --root 1 --json").out;
  const auto choose = [&](const std::string& more) {
    return shell("TUTTI_ALGO=file:" + path + " " TUTTI_IN_SHELL " choose broadcast " + more);
  };
  const Outcome fits = choose("-n 4 -r 1");
  EXPECT_EQ(fits.exit_code, 0) << fits.err;
  EXPECT_NE(fits.out.find("schedule 'broadcast/chain' "), std::string::npos) << fits.out;
  EXPECT_NE(fits.out.find("is the only one that is allowed"), std::string::npos) << fits.out;
  const auto document = Json::parse(choose("-n 4 -r 1 --json").out);
  EXPECT_EQ(document.at("candidates").at(0).at("schedule").get<std::string>().size(), 16U);
  EXPECT_TRUE(document.at("candidates").at(1).at("schedule").is_null());
  for (const char* const other : {"-n 4 -r 0", "-n 5 -r 1"}) {
    const Outcome misfit = choose(other);
    EXPECT_EQ(misfit.exit_code, 0) << misfit.err;
    EXPECT_EQ(misfit.out.find("schedule '"), std::string::npos) << misfit.out;
    EXPECT_EQ(misfit.out.find("barred"), std::string::npos) << misfit.out;
  }
}

TEST(Choose, PricesHierarchiesForSeveralHosts) {
  const Outcome outcome = tutti("choose allreduce -n 64 --ranks-per-node 8 --size 64MiB");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("allreduce/ring_ring"), std::string::npos) << outcome.out;
  EXPECT_EQ(tutti("choose allreduce -n 9 --ranks-per-node 8").exit_code, 2);
}

TEST(Tune, MeasuresSchedulesToo) {
  const TemporaryDirectory folder;
  const std::string schedule = folder.path("chain.json");
  const std::string profile = folder.path("profile.json");
  std::ofstream(schedule) << tutti("explain broadcast/chain -p 2 --json").out;
  const Outcome tuned = tutti("tune -n 2 --transport inproc --time 4 --most 64 -o " + profile +
                              " --schedule " + schedule);
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_NE(folder.read("profile.json").find("file:" + schedule), std::string::npos);
  const Outcome chosen =
      shell("TUTTI_PROFILE=" + profile +
            " " TUTTI_IN_SHELL " choose broadcast -n 2 --transport inproc --json");
  EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
  std::size_t schedules = 0;
  const auto document = Json::parse(chosen.out);
  for (const auto& each : document.at("candidates")) {
    if (!each.at("schedule").is_null()) ++schedules;
  }
  EXPECT_EQ(schedules, 1U) << chosen.out;
  EXPECT_EQ(tutti("tune -n 3 --schedule " + schedule).exit_code, 2);
}

TEST(Tune, WritesAProfileThatIsUsed) {
  const TemporaryDirectory folder;
  const std::string path = folder.path("deep/profile.json");
  const Outcome tuned = tutti("tune -n 2 --transport shm --time 4 --most 512 -o " + path);
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  std::ifstream file(path);
  const Profile profile = Profile::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  EXPECT_FALSE(profile.machine.empty());
  EXPECT_FALSE(profile.date.empty());
  std::size_t measured = 0;
  for (const Measurement& each : profile.measurements) {
    if (each.ranks == 2 && each.reach.pairs == Pairs::host) ++measured;
  }
  EXPECT_GT(measured, 0U);
  const Outcome chosen = tutti("choose allreduce -n 2 --size 512");
  EXPECT_EQ(chosen.exit_code, 0);
  const Outcome used = tutti("run -n 2 -x TUTTI_PROFILE=" + path +
                             " -- " TUTTI_IN_SHELL " bench allreduce -b 8 -e 8 --iters 1 -w 0");
  EXPECT_EQ(used.exit_code, 0) << used.err;
}

TEST(Choices, RanksWithDifferentProfilesFail) {
  const TemporaryDirectory folder;
  Profile other = built_in_profile();
  other.reaches[0].link.alpha *= 2;
  save_profile(other, folder.path("other.json"));
  const Outcome outcome = tutti(in_shell("if [ $TUTTI_RANK = 1 ]; then export TUTTI_PROFILE=" +
                                         folder.path("other.json") + "; fi; " + bench));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("ranks choose algorithms differently: rank 0 by the built-in profile"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("and rank 1 by " + folder.path("other.json")), std::string::npos)
      << outcome.err;
}

TEST(Choices, RanksWithDifferentRulesFail) {
  const Outcome outcome =
      tutti(in_shell(std::string("export TUTTI_ALGO=allreduce/mesh; if [ $TUTTI_RANK = 2 ]; then "
                                 "TUTTI_ALGO=allreduce/ring; fi; ") +
                     bench));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("rank 0 by TUTTI_ALGO=allreduce/mesh, the built-in profile"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("and rank 2 by TUTTI_ALGO=allreduce/ring, "), std::string::npos)
      << outcome.err;
}

TEST(Choices, AMistypedVariableIsReported) {
  const Outcome outcome =
      tutti(std::string("run -n 2 -x TUTTI_ALG=ring -- ") + (bench + sizeof "exec"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("Did you mean 'TUTTI_ALGO'?"), std::string::npos) << outcome.err;
}

TEST(Regret, PrintsATable) {
  const Outcome outcome = tutti("bench reduce --regret -n 2 --transport shm -b 8 -e 512 -f 64");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("of 2 choices within 10 %"), std::string::npos) << outcome.out;
}

/// Eight calls of 128 MiB do not fit into the time. On a busy machine nothing does.
TEST(Regret, LeavesOutCasesForLackOfTime) {
  const Outcome outcome =
      tutti("bench reduce --regret -n 2 --transport tcp -b 8 -e 128M -f 16777216 --time 0.3");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" of 2 cases were left out"), std::string::npos) << outcome.out;
}

TEST(Crossover, IsMeasuredAndPredicted) {
  const Outcome outcome =
      tutti("crossover allreduce/ring allreduce/binomial -p 2 --measure --from 8 --to 64");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("crossover: measured "), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace tutti::test
