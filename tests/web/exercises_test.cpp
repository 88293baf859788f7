#include <cmath>

#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/command.hpp"
#include "web/facade/explorer.hpp"

/// Each exercise of the lectures, answered by the command alone and by the page's library alone.
namespace tutti::web {
namespace {

class Exercise : public testing::Test {
 protected:
  [[nodiscard]] Json page(const std::string& question, const Json& arguments) {
    Json found = Json::parse(explorer_.answer(question, arguments.dump()));
    EXPECT_FALSE(found.contains("error")) << found;
    return found;
  }

  [[nodiscard]] static Json command(const std::string& line) {
    const test::Outcome outcome = test::tutti(line + " --json");
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.err;
    return Json::parse(outcome.out);
  }

  [[nodiscard]] static const Json& row(const Json& table, const std::string& algorithm) {
    for (const Json& each : table.at("algorithms")) {
      if (each.at("algorithm").get<std::string>() == algorithm) return each;
    }
    throw std::runtime_error("no row " + algorithm);
  }

  Explorer explorer_;
};

/// The number of a symbol of the page's film, if rank r's element c is 4r + c + 1.
double number(const Json& symbols, std::size_t symbol) {
  const std::size_t leaves = symbols.at("leaves").size() / 2;
  if (symbol <= leaves) {
    return symbols.at("leaves").at(2 * symbol - 2).get<double>() * 4 +
           symbols.at("leaves").at(2 * symbol - 1).get<double>() + 1;
  }
  double sum = 0;
  for (const Json& each : symbols.at("folds").at(symbol - 1 - leaves)) {
    sum += number(symbols, each.get<std::size_t>());
  }
  return sum;
}

/// P0 = [1,2,3,4], P1 = [5,6,7,8], …: what does each hold after a ring reduce_scatter?
TEST_F(Exercise, OneRingTrace) {
  const Json own =
      command("explain reduce_scatter ring --values '1,2,3,4;5,6,7,8;9,10,11,12;13,14,15,16'");
  const Json film = page("play", {{"algorithm", "reduce_scatter/ring"}, {"ranks", 4}});
  std::vector<std::vector<double>> held;
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) held.push_back({4.0 * r + c + 1});
  }
  ASSERT_EQ(own.at("rounds").size(), film.at("changes").size() + 1);
  for (std::size_t round = 0; round < film.at("changes").size(); ++round) {
    const Json& changes = film.at("changes").at(round);
    for (std::size_t i = 0; i < changes.size(); i += 4) {
      const auto place =
          changes.at(i).get<std::size_t>() * 4 + changes.at(i + 1).get<std::size_t>();
      held[place] = {number(film.at("symbols"), changes.at(i + 3).get<std::size_t>())};
    }
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t c = 0; c < 4; ++c) {
        EXPECT_EQ(own.at("rounds").at(round + 1).at("held").at(r).at(c), Json(held[4 * r + c]));
      }
    }
  }
  EXPECT_EQ(own.at("output"), Json::parse("[[28],[32],[36],[40]]"));
}

/// P = 256, α = 5 µs, 200 GB/s: where do ring and tree cross?
TEST_F(Exercise, TwoCrossover) {
  const Json own = command("crossover allreduce ring tree -p 256 --alpha 5us --bandwidth 200GB/s");
  const Json found = page("crossing", {{"first", "allreduce/ring"},
                                       {"second", "allreduce/binomial"},
                                       {"ranks", 256},
                                       {"alpha", "5us"},
                                       {"bandwidth", "200GB/s"}});
  EXPECT_NEAR(own.at("size").get<double>(), found.at("size").get<double>(), 256);
  // n* = α(P−1−log₂P) / (β(log₂P − (P−1)/P)).
  EXPECT_NEAR(own.at("size").get<double>(), 5e-6 * 200e9 * (255 - 8) / (8 - 255.0 / 256), 256);
}

/// 8 nodes of 8, 600 GB/s inside, 100 GB/s between them, 1 GB: flat ring against 2-D ring.
TEST_F(Exercise, ThreeHierarchy) {
  const Json own = command(
      "cost allreduce ring 2d-ring --shape 8x8 --size 1GB --alpha 0 --bandwidth 100GB/s "
      "--ranks-per-node 8 --node-bandwidth 600GB/s");
  for (const std::string name : {"allreduce/ring", "allreduce/ring_ring"}) {
    const Json found = page("cost", {{"collective", "allreduce"},
                                     {"algorithm", name},
                                     {"ranks", 64},
                                     {"shape", "8x8"},
                                     {"size", "1GB"},
                                     {"alpha", "0"},
                                     {"bandwidth", "100GB/s"},
                                     {"node", 8},
                                     {"node_bandwidth", "600GB/s"}});
    EXPECT_EQ(row(own, name).at("one_port"), row(found, name).at("one_port")) << name;
  }
  EXPECT_GT(row(own, "allreduce/ring").at("one_port").at("seconds").get<double>(),
            3 * row(own, "allreduce/ring_ring").at("one_port").at("seconds").get<double>());
}

/// 1000 tensors of 1 MB, α = 10 µs, 100 GB/s: single calls against buckets of 25 MB.
TEST_F(Exercise, FourBuckets) {
  const Json own = command("buckets -p 16 --alpha 10us --bandwidth 100GB/s --bucket 25MB");
  const auto call = [&](const char* size) {
    return row(page("cost", {{"collective", "allreduce"},
                             {"algorithm", "allreduce/ring"},
                             {"ranks", 16},
                             {"size", size},
                             {"alpha", "10us"},
                             {"bandwidth", "100GB/s"}}),
               "allreduce/ring")
        .at("one_port")
        .at("seconds")
        .get<double>();
  };
  EXPECT_DOUBLE_EQ(own.at("buckets").at(0).at("seconds").get<double>(), 1000 * call("1MB"));
  EXPECT_DOUBLE_EQ(own.at("buckets").at(1).at("seconds").get<double>(), 40 * call("25MB"));
}

/// Rabenseifner's algorithm for P = 6.
TEST_F(Exercise, FiveNotAPowerOfTwo) {
  const Json proved = command("verify rabenseifner -p 6");
  EXPECT_TRUE(page("proof", {{"algorithm", "allreduce/halving_doubling"}, {"ranks", 6}})
                  .at("ok")
                  .get<bool>());
  EXPECT_EQ(proved.at("verified").at(0).at("name").get<std::string>(),
            "allreduce/halving_doubling");
  EXPECT_EQ(proved.at("verified").at(0).at("violations"), 0);
  const Json own = command("cost rabenseifner -p 6 --size 6MB");
  const Json found = page("cost", {{"collective", "allreduce"}, {"ranks", 6}, {"size", "6MB"}});
  EXPECT_EQ(row(own, "allreduce/halving_doubling").at("rounds"), 6);
  EXPECT_EQ(row(own, "allreduce/halving_doubling").at("rounds"),
            row(found, "allreduce/halving_doubling").at("rounds"));
}

/// A bidirectional ring has half of the rounds and the least bytes.
TEST_F(Exercise, SixBidirectionalRing) {
  for (const int ranks : {2, 3, 4, 5, 8, 16, 17}) {
    const std::string size = std::to_string(ranks * 5040);
    const Json own = command("cost allreduce ring bidirectional -p " + std::to_string(ranks) +
                             " --size " + size);
    const Json found =
        page("cost", {{"collective", "allreduce"}, {"ranks", ranks}, {"size", size}});
    const Json& both = row(own, "allreduce/bidirectional_ring");
    EXPECT_EQ(both.at("rounds").get<int>(), 2 * (ranks / 2));
    EXPECT_EQ(both.at("most_sent"), both.at("bounds").at("most_sent"));
    EXPECT_EQ(both.at("rounds"), row(found, "allreduce/bidirectional_ring").at("rounds"));
    EXPECT_EQ(both.at("most_sent"), row(found, "allreduce/bidirectional_ring").at("most_sent"));
    EXPECT_EQ(row(own, "allreduce/ring").at("rounds").get<int>(), 2 * (ranks - 1));
  }
}

/// The lectures' table for p = 5, in shares of the data D = 5 chunks.
TEST_F(Exercise, SevenTableOfTheLecture) {
  const Json own = command("cost allreduce mesh single-root binary-tree naive-ring ring -p 5");
  const Json found =
      page("cost", {{"collective", "allreduce"}, {"ranks", 5}, {"size", std::to_string(5 * 840)}});
  struct Line {
    const char* name;
    int total;  // In units of D/5.
    int steps;
    int most;
  };
  for (const Line& each :
       {Line{"mesh", 100, 1, 20}, Line{"root", 40, 2, 20}, Line{"binary_tree", 40, 4, 10},
        Line{"ring_naive", 40, 8, 5}, Line{"ring", 40, 8, 1}}) {
    const std::string name = std::string("allreduce/") + each.name;
    const Json& counted = row(own, name);
    const auto unit = 5.0 / counted.at("chunks").get<double>();
    EXPECT_EQ(counted.at("bytes").get<double>() * unit, each.total) << name;
    EXPECT_EQ(counted.at("rounds").get<int>(), each.steps) << name;
    EXPECT_EQ(counted.at("most_in_a_round").get<double>() * unit, each.most) << name;
    EXPECT_EQ(row(found, name).at("bytes").get<double>() / 840, each.total) << name;
    EXPECT_EQ(row(found, name).at("rounds").get<int>(), each.steps) << name;
    EXPECT_EQ(row(found, name).at("most_in_a_round").get<double>() / 840, each.most) << name;
  }
}

/// Hosts A, B, C, D on the network of the lecture.
TEST_F(Exercise, EightStretch) {
  const std::string file = "\"" TUTTI_GOLDEN_DIR "/../../examples/networks/lecture.json\"";
  const Json network(test::shell("cat " + file).out);
  const auto by_page = [&](const std::vector<int>& places) {
    Json arguments{{"algorithm", "allreduce/ring"}, {"ranks", 4}};
    arguments["network"] = network;
    arguments["places"] = Json(places);
    return page("load", arguments).at("stretch").at("average");
  };
  const Json first = command("topo stretch " + file + " --order A,C,D,B");
  const Json second = command("topo stretch " + file + " --order A,C,B,D");
  EXPECT_EQ(first.at("average"), by_page({0, 2, 3, 1}));
  EXPECT_EQ(second.at("average"), by_page({0, 2, 1, 3}));
  EXPECT_EQ(first.at("average").get<double>(), 3.5);
  EXPECT_EQ(second.at("average").get<double>(), 2.5);
}

/// "A naive allreduce might need 6n of raw volume, an optimised one 3n": 4 ranks, in and out of the
/// busiest one.
TEST_F(Exercise, NineVolume) {
  const Json own = command("cost allreduce single-root ring -p 4 --size 16384");
  const std::pair<const char*, int> expected[] = {{"allreduce/root", 6}, {"allreduce/ring", 3}};
  for (const auto& [name, times] : expected) {
    EXPECT_EQ(row(own, name).at("most_through").get<int>(), times * 16384) << name;
    int most = 0;
    const Json found = page("detail", {{"algorithm", name}, {"ranks", 4}, {"size", "16384"}});
    for (const Json& rank : found.at("ranks")) {
      most = std::max(most, rank.at(1).get<int>() + rank.at(2).get<int>());
    }
    EXPECT_EQ(most, times * 16384) << name;
  }
}

/// f(x) = x² + 5 in two stages.
TEST_F(Exercise, TenPipeline) {
  const Json own = command("explain pipeline --values 0,1,2,3,4,5,6");
  const Json found = page("pipeline", {{"values", "0,1,2,3,4,5,6"}});
  for (const char* each : {"units", "one_by_one", "messages", "idle", "results"}) {
    EXPECT_EQ(own.at(each), found.at(each)) << each;
  }
  EXPECT_EQ(own.at("units"), 8);
  EXPECT_EQ(own.at("one_by_one"), 14);
  EXPECT_EQ(own.at("messages"), 7);
  EXPECT_EQ(own.at("idle"), 2);
  EXPECT_EQ(own.at("results"), Json::parse("[5,6,9,14,21,30,41]"));
  EXPECT_EQ(found.at("timeline").at(0), Json::parse("[0,null]"));
  EXPECT_EQ(found.at("timeline").at(3), Json::parse("[3,2]"));
  EXPECT_EQ(found.at("timeline").at(7), Json::parse("[null,6]"));
}

/// Ring or tree on 4 ranks for 1 KB, 1 MB and 16 MB, and where they cross.
TEST_F(Exercise, ElevenRingOrTree) {
  const std::string machine = " -p 4 --alpha 10us --bandwidth 12.5GB/s";
  const auto seconds = [](const Json& table, const std::string& name) {
    return row(table, name).at("one_port").at("seconds").get<double>();
  };
  for (const std::string size : {"1kB", "1MB", "16MB"}) {
    const Json own = command("cost allreduce ring tree --size " + size + machine);
    const Json found = page("cost", {{"collective", "allreduce"},
                                     {"ranks", 4},
                                     {"size", size},
                                     {"alpha", "10us"},
                                     {"bandwidth", "12.5GB/s"}});
    for (const std::string name : {"allreduce/ring", "allreduce/binomial"}) {
      EXPECT_DOUBLE_EQ(seconds(own, name), seconds(found, name)) << name << ", " << size;
    }
    EXPECT_EQ(size == "1kB", seconds(own, "allreduce/binomial") < seconds(own, "allreduce/ring"));
  }
  const Json own = command("crossover allreduce ring tree" + machine);
  const Json found = page("crossing", {{"first", "allreduce/ring"},
                                       {"second", "allreduce/binomial"},
                                       {"ranks", 4},
                                       {"alpha", "10us"},
                                       {"bandwidth", "12.5GB/s"}});
  EXPECT_EQ(own.at("size"), found.at("size"));
  // 6α + 3/2·nβ = 4α + 4nβ
  EXPECT_NEAR(own.at("size").get<double>(), 2 * 10e-6 * 12.5e9 / 2.5, 4);
}

}  // namespace
}  // namespace tutti::web
