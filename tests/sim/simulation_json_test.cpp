#include <map>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/sim/simulation_json.hpp>

#include "core/json_value.hpp"
#include "sim/busiest_links.hpp"

namespace tutti {
namespace {

struct Trial {
  Network network = generate("torus:3x3");
  Simulation simulation;

  Trial(const char* name, const SimulationSettings& settings) {
    Routes routes(network);
    const Schedule schedule = algorithm(name).schedule({.ranks = 9});
    simulation = simulate(network, routes, source_of(schedule),
                          even_layout(schedule.contract, 90000), settings);
  }
};

TEST(SimulationJson, ContainsAllResults) {
  const Trial trial("alltoall/pairwise", {.gamma = 1e-10, .records = true, .intervals = 16});
  const Json json = Json::parse(to_json(trial.simulation, trial.network));
  EXPECT_EQ(json["seconds"].get<double>(), trial.simulation.seconds);
  EXPECT_EQ(json["messages"], 72);
  EXPECT_EQ(json["finished"].size(), 9U);
  EXPECT_EQ(json["critical_path"].size(), trial.simulation.critical_path.size());
  EXPECT_EQ(json["activities"].size(), trial.simulation.activities.size());
  EXPECT_EQ(json["utilisation"]["links"].size(), json["links"].size());
  double before = 1;
  for (const Json& link : json["links"]) {
    EXPECT_LE(link["utilisation"].get<double>(), before);
    before = link["utilisation"].get<double>();
  }
}

TEST(SimulationJson, OmitsWhatWasNotRecorded) {
  const Trial trial("allreduce/ring", {});
  const Json json = Json::parse(to_json(trial.simulation, trial.network));
  EXPECT_FALSE(json.contains("activities"));
  EXPECT_FALSE(json.contains("utilisation"));
}

TEST(ChromeTrace, TracksOfARankDoNotOverlap) {
  for (const std::uint32_t ports : {0U, 1U}) {
    const Trial trial("alltoall/mesh", {.ports = ports, .records = true, .intervals = 16});
    const Json json = Json::parse(to_chrome_trace(trial.simulation, trial.network));
    std::map<int, double> ends;
    std::map<std::string, int> kinds;
    std::map<int, std::string> names;
    for (const Json& event : json["traceEvents"]) {
      ++kinds[event["ph"].get<std::string>()];
      if (event["name"] == "thread_name")
        names[event["tid"].get<int>()] = event["args"]["name"].get<std::string>();
      if (event["ph"] != "X") continue;
      const auto begin = event["ts"].get<double>();
      EXPECT_GE(begin, ends[event["tid"].get<int>()] - 1e-9);
      ends[event["tid"].get<int>()] = begin + event["dur"].get<double>();
    }
    EXPECT_EQ(kinds["X"], 72);
    EXPECT_GT(kinds["C"], 16);
    EXPECT_EQ(names.size(), ends.size());
    EXPECT_EQ(names.size(), ports == 1 ? 9U : 72U);
    EXPECT_EQ(names[0], "rank 0");
  }
}

TEST(BusiestLinks, ComeFirst) {
  const Trial trial("broadcast/binomial", {});
  const auto links = busiest_links(trial.simulation, trial.network, 3);
  ASSERT_EQ(links.size(), 3U);
  EXPECT_GE(links[0].utilisation, links[1].utilisation);
  EXPECT_GT(links[2].utilisation, 0);
  EXPECT_LE(links[0].utilisation, 1 + 1e-9);
}

}  // namespace
}  // namespace tutti
