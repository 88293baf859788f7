#include "api/settings.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "core/json.hpp"
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
  refused("TUTTI_PORT_RANGE", "80-", "80-");
  refused("TUTTI_TLS", "yes", "TUTTI_TLS is \"yes\"; set it to 1");
  refused("TUTTI_TLS", "1", "TUTTI_SECRET, which is not set");
  refused("TUTTI_LOG_JSONL", "/nowhere/at/all", "cannot write to /nowhere/at/all");
}

TEST(Settings, AreReadFromTheEnvironment) {
  const Variable timeout("TUTTI_TIMEOUT", "0.25");
  const Variable transport("TUTTI_TRANSPORT", "tcp");
  const CommunicatorSettings settings = settings_from_environment();
  EXPECT_EQ(settings.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(settings.fabric.way, Way::tcp);
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
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto json = Json::parse(line);
    ++lines[json.at("collective").string()];
    EXPECT_EQ(json.at("ranks"), 3);
    EXPECT_GT(json.at("us").get<double>(), 0);
    if (json.at("collective") != "allreduce") continue;
    EXPECT_EQ(json.at("bytes"), 400);
    EXPECT_EQ(json.at("op"), "max");
    EXPECT_EQ(json.at("call"), 1);
  }
  EXPECT_EQ(lines,
            (std::map<std::string, int>{{"allreduce", 3}, {"barrier", 3}, {"broadcast", 3}}));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tutti::test
