#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/command.hpp"

/// Options that have been renamed: the former names still work, and help does not show them.
namespace tutti::test {
namespace {

struct Renamed {
  std::string command;
  std::string former;
  std::string present;
};

void expect_same(const Renamed& each) {
  const Outcome before = tutti(each.command + " " + each.former);
  const Outcome now = tutti(each.command + " " + each.present);
  EXPECT_EQ(now.exit_code, 0) << each.command << " " << each.present << ": " << now.err;
  EXPECT_EQ(before.exit_code, 0) << each.command << " " << each.former << ": " << before.err;
  EXPECT_EQ(before.out, now.out);
}

TEST(FormerNames, GiveTheSame) {
  for (const Renamed& each : {
           Renamed{"topo stretch torus:4x4", "--schedule allreduce/ring", "--algo allreduce/ring"},
           Renamed{"cost allreduce/ring -p 8", "--node 4", "--ranks-per-node 4"},
           Renamed{"cost allreduce/ring -p 8", "--node=4", "--ranks-per-node=4"},
           Renamed{"choose allreduce -n 8", "--pairs loopback", "--transport tcp"},
           Renamed{"choose allreduce -n 8", "--ranks-per-host 4", "--ranks-per-node 4"},
           Renamed{"crossover allreduce ring tree -p 8", "--many-ports", "--own-links"},
           Renamed{"synth allreduce --topo ring:4 --no-sim", "--time-limit 5 --out -",
                   "--time 5 --output -"},
       }) {
    expect_same(each);
  }
}

TEST(FormerNames, ReadASchedule) {
  const std::string ring = tutti("explain allreduce/ring -p 4 --json").out;
  for (const std::string command : {"verify", "draw -o -", "sim --topo ring:4"}) {
    const Outcome before = tutti(command + " --file -", ring);
    EXPECT_EQ(before.exit_code, 0) << before.err;
    EXPECT_EQ(before.out, tutti(command + " --schedule -", ring).out);
  }
}

TEST(FormerNames, AreNotShown) {
  const std::vector<Renamed> all{
      {"verify", "--file", "--schedule"},  {"draw", "--file", "--schedule"},
      {"synth", "--time-limit", "--time"}, {"tune", "--seconds", "--time"},
      {"tune", "--pairs", "--transport"},  {"choose", "--ranks-per-host", "--ranks-per-node"}};
  for (const Renamed& each : all) {
    const std::string help = tutti(each.command + " --help").out;
    EXPECT_EQ(help.find(each.former + " "), std::string::npos) << help;
    EXPECT_NE(help.find(each.present + " "), std::string::npos) << help;
  }
}

TEST(FormerNames, AreLeftToTheProgramThatRuns) {
  EXPECT_EQ(tutti("run -n 1 --no-prefix echo --out x --time-limit y").out,
            "--out x --time-limit y\n");
}

}  // namespace
}  // namespace tutti::test
