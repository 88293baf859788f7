#include "api/settings.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>
#include <tutti/network/network_file.hpp>

#include "core/json_value.hpp"
#include "support/errors.hpp"
#include "support/variable.hpp"

namespace tutti::test {
namespace {

TEST(Settings, ErrorsNameAllowedValues) {
  const auto refused = [](const char* name, const std::string& value, const std::string& part) {
    const Variable variable(name, value);
    expect_error([] { (void)settings_from_environment(); }, ErrorCode::invalid_argument, part);
  };
  refused("TUTTI_TRANSPORT", "smh", "TUTTI_TRANSPORT is \"smh\"; it may be auto, shm or tcp");
  refused("TUTTI_TIMEOUT", "soon", "TUTTI_TIMEOUT is \"soon\"");
  refused("TUTTI_TIMEOUT", "-1", "a number of seconds");
  refused("TUTTI_PORT_RANGE", "80-", "TUTTI_PORT_RANGE: '80-' is not a range of ports; write such");
  refused("TUTTI_PROTO", "fast", "TUTTI_PROTO is \"fast\"; it may be auto, copy or direct");
  refused("TUTTI_SLICE", "1", "TUTTI_SLICE is \"1\"; it may be a size from 1KiB to 1GiB");
  refused("TUTTI_ADOPT", "on",
          "TUTTI_ADOPT is \"on\"; it may be auto, off or a size, such as 1MiB");
  refused("TUTTI_LOST_AFTER", "0", "TUTTI_LOST_AFTER is \"0\"; it may be a number of seconds");
  refused("TUTTI_FLIGHT_RECORDS", "0", "TUTTI_FLIGHT_RECORDS is \"0\"; set it to a number of");
  refused("TUTTI_FLIGHT", "/proc/no", "TUTTI_FLIGHT is \"/proc/no\"; set it to a writable");
  refused("TUTTI_TOPO_FILE", "tours:4x4", "TUTTI_TOPO_FILE: ");
  refused("TUTTI_TOPO_FILE", "tours:4x4", "tours");
  refused("TUTTI_PROFILE", "/no/profile", "TUTTI_PROFILE: cannot read the file '/no/profile'");
  refused("TUTTI_RULES", "/no/rules", "TUTTI_RULES: cannot read the file '/no/rules'");
  refused("TUTTI_ALGO", "allreduce/rung", "TUTTI_ALGO: there is no allreduce by 'allreduce/rung'");
  refused("TUTTI_TLS", "yes", "TUTTI_TLS is \"yes\"; set it to 1");
  refused("TUTTI_TLS", "1", "TUTTI_SECRET, which is not set");
  refused("TUTTI_LOG_JSONL", "/nowhere/at/all", "TUTTI_LOG_JSONL: cannot write to /nowhere/at/all");
}

TEST(Settings, AreReadFromTheEnvironment) {
  const Variable timeout("TUTTI_TIMEOUT", "0.25");
  const Variable transport("TUTTI_TRANSPORT", "tcp");
  const CommunicatorSettings settings = settings_from_environment();
  EXPECT_EQ(settings.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(settings.fabric.transport, "tcp");
}

TEST(Settings, OrderNamesEachRankOnce) {
  const CommunicatorSettings settings;
  EXPECT_TRUE(order_from_environment(settings, 3).empty());
  {
    const Variable order("TUTTI_ORDER", "2,0,1");
    EXPECT_EQ(order_from_environment(settings, 3), (std::vector<Rank>{Rank{2}, Rank{0}, Rank{1}}));
    expect_error([&] { (void)order_from_environment(settings, 4); }, ErrorCode::invalid_argument,
                 "TUTTI_ORDER names 3 ranks, but there are 4");
  }
  const Variable network("TUTTI_TOPO_FILE", "star:p=3");
  const Variable order("TUTTI_ORDER", "r0,r2,r1");
  EXPECT_EQ(order_from_environment(settings_from_environment(), 3),
            (std::vector<Rank>{Rank{0}, Rank{2}, Rank{1}}));
}

/// Ranks compare the digest, and they may be built with different standard libraries.
TEST(Settings, DigestOfChoicesIsTheSameInEveryBuild) {
  CommunicatorSettings settings;
  settings.rules.add(parse_algorithm_rules("allreduce:ring", "test"));
  settings.network = std::make_shared<const Network>(load_network("star:p=3"));
  settings.places = {Rank{2}, Rank{0}, Rank{1}};
  settings.shape.dimensions = {3};
  note_choices(settings);
  EXPECT_EQ(settings.choice_digest, 904'423'121'386'914'166U);
  settings.places = {Rank{0}, Rank{2}, Rank{1}};
  note_choices(settings);
  EXPECT_NE(settings.choice_digest, 904'423'121'386'914'166U);
}

TEST(CallLog, HasALineForEachCallOfEachRank) {
  const std::string path = testing::TempDir() + "/tutti-calls.jsonl";
  std::filesystem::remove(path);
  {
    const Variable log("TUTTI_LOG_JSONL", path);
    run_threads(3, [](Communicator& comm) {
      std::vector<float> data(100);
      comm.all_reduce(data, Op::max);
      comm.broadcast(data, 2);
      comm.barrier();
    });
  }
  std::map<std::string, int> lines;
  int sent = 0;
  int received = 0;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto json = Json::parse(line);
    ++lines[json.at("collective").get<std::string>()];
    EXPECT_EQ(json.at("ranks"), 3);
    EXPECT_GT(json.at("us").get<double>(), 0);
    if (json.at("collective") != "allreduce") continue;
    EXPECT_EQ(json.at("bytes"), 400);
    EXPECT_GT(json.at("sent").get<int>(), 0);
    EXPECT_GT(json.at("received").get<int>(), 0);
    sent += json.at("sent").get<int>();
    received += json.at("received").get<int>();
    EXPECT_EQ(json.at("op"), "max");
    EXPECT_EQ(json.at("call"), 1);
  }
  EXPECT_EQ(sent, received);
  EXPECT_EQ(lines,
            (std::map<std::string, int>{{"allreduce", 3}, {"barrier", 3}, {"broadcast", 3}}));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tutti::test
