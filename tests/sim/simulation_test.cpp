#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/network/generator.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/sim/simulation.hpp>

#include "support/errors.hpp"
#include "support/variant_schedules.hpp"

namespace tutti {
namespace {

/// Every pair of ranks has its own links: there is no contention.
Network full_mesh(std::uint32_t p, double bytes_per_second, double latency) {
  Network network;
  network.name = "full mesh";
  for (std::uint32_t r = 0; r < p; ++r) network.add("r" + std::to_string(r), NodeKind::rank);
  for (std::uint32_t a = 0; a < p; ++a) {
    for (std::uint32_t b = a + 1; b < p; ++b) {
      network.join(network.ranks[a], network.ranks[b], bytes_per_second, latency);
    }
  }
  return network;
}

Simulation run(const Network& network, const Schedule& schedule, std::uint64_t size,
               const SimulationSettings& settings) {
  Routes routes(network);
  return simulate(network, routes, source_of(schedule), even_layout(schedule.contract, size),
                  settings);
}

Simulation run(const std::string& network, const std::string& name, std::uint32_t p,
               std::uint64_t size, const SimulationSettings& settings = {}) {
  return run(generate(network), algorithm(name).schedule({.ranks = p}), size, settings);
}

Problem problem_for(const Algorithm& algorithm, std::uint32_t p) {
  return {.ranks = p, .shape = algorithm.needs_shape() ? squarest(p) : Shape{}};
}

/// Expects the durations of the steps of the path and the gaps between them to add up.
void expect_path_to_add_up(const Simulation& simulation) {
  double at = 0;
  for (const Activity& each : simulation.critical_path) {
    EXPECT_NEAR(each.begin, at, 1e-9 * simulation.seconds);
    EXPECT_GE(each.end, each.begin);
    at = each.end;
  }
  EXPECT_NEAR(at, simulation.seconds, 1e-9 * simulation.seconds);
}

bool has_contention(const Simulation& simulation) {
  return std::any_of(
      simulation.activities.begin(), simulation.activities.end(),
      [](const Activity& each) { return each.end - each.begin > each.alone * (1 + 1e-6); });
}

/// If groups differ by one rank, messages of two ranks can wait for the same port from the same
/// moment on. The price and the simulation then need not serve the same one first.
double tolerance(const Algorithm& algorithm, Ports ports) {
  const bool competes = algorithm.row_name() == "allgather/recursive_multiplying";
  return competes && ports == Ports::one ? 0.1 : 1e-9;
}

TEST(Simulation, WithoutContentionEqualsTheCriticalPath) {
  int compared = 0;
  constexpr CostModel model{.link = {.alpha = 3e-6, .beta = 1 / 12.5e9}, .gamma = 4e-11};
  for (const Algorithm& each : algorithms()) {
    for (const std::uint32_t p : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 12U, 13U, 16U}) {
      const Schedule schedule = each.schedule(problem_for(each, p));
      const Network network = full_mesh(p, 12.5e9, 1e-6);
      for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{9973} * p}) {
        for (const double gamma : {0.0, model.gamma, 25 * model.gamma}) {
          for (const Ports ports : {Ports::one, Ports::unlimited}) {
            CostModel priced = model;
            priced.gamma = gamma;
            const double expected =
                Pricer(schedule).price(even_layout(schedule.contract, size), priced, ports).seconds;
            const Simulation found = run(network, schedule, size,
                                         {.alpha = 2e-6,
                                          .gamma = gamma,
                                          .ports = ports == Ports::one ? 1U : 0U,
                                          .records = true});
            // With many ports, messages of one pair can be in flight at the same time and share a
            // link.
            if (ports == Ports::unlimited && has_contention(found)) continue;
            ++compared;
            EXPECT_NEAR(found.seconds, expected, tolerance(each, ports) * expected)
                << each.name << " p=" << p << " size=" << size << " gamma=" << gamma
                << (ports == Ports::one ? " one port" : " many ports");
            expect_path_to_add_up(found);
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 3000);
}

/// A local step starts when its inputs are ready and takes the time of its reductions.
TEST(Simulation, LocalStepsFollowTheCriticalPath) {
  const CostModel model{.link = {.alpha = 3e-6, .beta = 1 / 12.5e9}, .gamma = 1e-9};
  for (const std::uint32_t p : {1U, 2U, 3U, 5U, 8U}) {
    const Network network = full_mesh(p, 12.5e9, 1e-6);
    for (const Schedule& schedule : test::variant_schedules(p)) {
      const std::uint64_t size = std::uint64_t{9973} * p;
      const double expected =
          Pricer(schedule).price(even_layout(schedule.contract, size), model, Ports::one).seconds;
      for (const bool symmetry : {false, true}) {
        const Simulation found =
            run(network, schedule, size,
                {.alpha = 2e-6, .gamma = model.gamma, .ports = 1, .symmetry = symmetry});
        EXPECT_NEAR(found.seconds, expected, 1e-9 * expected) << schedule.name << " p=" << p;
        expect_path_to_add_up(found);
      }
    }
  }
}

TEST(Simulation, MessagesOfARoundDoNotShareLinksOnAStar) {
  const Simulation found = run("star:p=8,bandwidth=1GB/s,latency=1us", "allreduce/ring", 8, 8000);
  EXPECT_NEAR(found.seconds, 14 * (2e-6 + 1000 / 1e9), 1e-15);
}

TEST(Simulation, TwoFlowsShareALink) {
  // Every rank sends a third of its data to each of the two others at the same time.
  const Simulation found =
      run("star:p=3,bandwidth=1GB/s,latency=0", "alltoall/mesh", 3, 3000, {.ports = 0});
  EXPECT_NEAR(found.seconds, 2000 / 1e9, 1e-15);
}

TEST(Simulation, ManyPortsAreBetweenOneAndUnlimited) {
  const std::string star = "star:p=9,bandwidth=1GB/s,latency=5us";
  const double one = run(star, "alltoall/mesh", 9, 9000, {.ports = 1}).seconds;
  const double two = run(star, "alltoall/mesh", 9, 9000, {.ports = 2}).seconds;
  const double any = run(star, "alltoall/mesh", 9, 9000, {.ports = 0}).seconds;
  EXPECT_LT(any, two);
  EXPECT_LT(two, one);
}

TEST(Simulation, LinksCarryWhatIsSent) {
  for (const char* name : {"allreduce/ring", "alltoall/pairwise", "broadcast/binomial",
                           "allreduce/halving_doubling"}) {
    for (const char* spec : {"star:16", "torus:4x4", "fat_tree:k=4"}) {
      const Network network = generate(spec);
      const Schedule schedule = algorithm(name).schedule({.ranks = 16});
      const Layout layout = even_layout(schedule.contract, 123456);
      const Simulation found = run(network, schedule, 123456, {});
      const Figures counted = count(schedule, layout);
      EXPECT_EQ(found.messages, counted.messages);
      EXPECT_EQ(found.bytes, counted.bytes);

      Routes routes(network);
      std::vector<double> expected(network.links.size(), 0);
      for (std::uint32_t r = 0; r < 16; ++r) {
        for (const Step step : schedule.program(r)) {
          if (step.kind != Step::Kind::send) continue;
          double bytes = 0;
          for (const ChunkRange& range : step.chunks) {
            bytes += static_cast<double>(layout.size(range));
          }
          for (const Rank peer : step.peers) {
            for (const LinkId link : routes.between(r, peer)) expected[link.index()] += bytes;
          }
        }
      }
      for (std::size_t l = 0; l < expected.size(); ++l) {
        EXPECT_NEAR(found.links[l].bytes, expected[l], 1e-9 * expected[l]);
        const double least = expected[l] / network.links[l].bytes_per_second;
        EXPECT_GE(found.links[l].busy * (1 + 1e-9), least) << "a link carried more than it can";
        EXPECT_LE(found.links[l].busy, found.seconds);
      }
      EXPECT_EQ(*std::max_element(found.finished.begin(), found.finished.end()), found.seconds);
    }
  }
}

TEST(Simulation, UtilisationOverTimeAddsUp) {
  const Network network = generate("torus:4x4");
  const Simulation found = run(network, algorithm("alltoall/mesh").schedule({.ranks = 16}), 160000,
                               {.ports = 0, .intervals = 40});
  const UtilisationSeries& series = found.utilisation;
  ASSERT_EQ(series.rows, network.links.size());
  EXPECT_GT(series.intervals(), 19U);
  EXPECT_LE(series.intervals(), 40U);
  for (std::size_t l = 0; l < network.links.size(); ++l) {
    double sum = 0;
    for (std::size_t i = 0; i < series.intervals(); ++i) {
      const double bytes = series.carried(i, LinkId{static_cast<std::uint32_t>(l)});
      EXPECT_LE(bytes, network.links[l].bytes_per_second * series.seconds * (1 + 1e-9));
      sum += bytes;
    }
    EXPECT_NEAR(sum, found.links[l].bytes, 1e-6 * found.links[l].bytes);
  }
}

TEST(Simulation, IsDeterministic) {
  const SimulationSettings settings{.gamma = 1e-11, .noise = 0.3, .seed = 7, .records = true};
  const Simulation a = run("torus:4x4", "alltoall/pairwise", 16, 1 << 20, settings);
  const Simulation b = run("torus:4x4", "alltoall/pairwise", 16, 1 << 20, settings);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.finished, b.finished);
  EXPECT_EQ(a.activities, b.activities);
}

TEST(Simulation, NoiseDelaysAndDependsOnItsSeed) {
  const auto with = [](double noise, std::uint64_t seed) {
    return run("star:8", "allreduce/ring", 8, 1 << 20, {.noise = noise, .seed = seed}).seconds;
  };
  const double quiet = with(0, 1);
  EXPECT_GT(with(0.2, 1), quiet);
  EXPECT_NE(with(0.2, 1), with(0.2, 2));
  EXPECT_EQ(with(0.2, 3), with(0.2, 3));
  EXPECT_EQ(with(0, 1), with(0, 2));
  EXPECT_LT(with(0.001, 1), 1.01 * quiet);
}

TEST(Simulation, NoiseHasTheDocumentedMean) {
  const Simulation found =
      run("star:64", "alltoall/pairwise", 64, 64 << 20, {.noise = 0.5, .seed = 3, .records = true});
  double sum = 0;
  for (const Activity& each : found.activities) sum += (each.end - each.begin) / each.alone;
  EXPECT_NEAR(sum / static_cast<double>(found.activities.size()), 1.5, 0.05);
}

TEST(Simulation, SlicesMakeAChainAPipeline) {
  const std::string star = "star:p=5,bandwidth=1GB/s,latency=0";
  const double whole = run(star, "broadcast/chain", 5, 100000).seconds;
  const double sliced = run(star, "broadcast/chain", 5, 100000, {.slice = 1000}).seconds;
  EXPECT_NEAR(whole, 4 * 100000 / 1e9, 1e-12);
  EXPECT_NEAR(sliced, 100000 / 1e9 + 3 * 1000 / 1e9, 1e-12);
}

TEST(Simulation, SlicesLongerThanChunksChangeNothing) {
  for (const char* name : {"allreduce/ring", "allreduce/double_tree", "alltoall/bruck"}) {
    const double whole = run("torus:3x3", name, 9, 90000).seconds;
    EXPECT_EQ(run("torus:3x3", name, 9, 90000, {.slice = 1 << 20}).seconds, whole) << name;
  }
}

TEST(Simulation, SlicesOfEveryAlgorithmMatch) {
  for (const Algorithm& each : algorithms()) {
    const Schedule schedule = each.schedule(problem_for(each, 6));
    const Layout layout = even_layout(schedule.contract, 6007);
    const Simulation found = run(generate("star:6"), schedule, 6007, {.slice = 100});
    EXPECT_EQ(found.bytes, count(schedule, layout).bytes) << each.name;
  }
}

TEST(Simulation, PlacesMapRanksToTheNetwork) {
  // Neighbours on the ring are far apart on the torus, so their messages share links.
  std::vector<Rank> places;
  for (std::uint32_t r = 0; r < 16; ++r) places.emplace_back(r * 5 % 16);
  const double ordered = run("torus:4x4", "allreduce/ring", 16, 1 << 20).seconds;
  const double placed = run("torus:4x4", "allreduce/ring", 16, 1 << 20, {.places = places}).seconds;
  EXPECT_GT(placed, 1.1 * ordered);
}

TEST(Simulation, WeightsFavourShortRoutes) {
  // On a line of three switches two flows share the last link: a short route and a long one.
  Network network;
  for (int r = 0; r < 3; ++r) network.add("r" + std::to_string(r), NodeKind::rank);
  const NodeId near = network.add("near", NodeKind::switch_);
  const NodeId far = network.add("far", NodeKind::switch_);
  network.join(network.ranks[0], far, 1e9, 2e-6);
  network.join(far, near, 1e9, 1e-6);
  network.join(network.ranks[1], near, 1e9, 1e-6);
  network.join(network.ranks[2], near, 1e9, 1e-6);
  Schedule schedule{
      .name = "two to one",
      .contract = {.collective = Collective::gather, .ranks = 3, .root = Rank{2}, .chunks = 3},
      .programs = std::vector<Program>(3, Program(1))};
  schedule.programs[0].send(0, Rank{2}, Chunk{0});
  schedule.programs[1].send(0, Rank{2}, Chunk{1});
  schedule.programs[2].receive(0, Rank{0}, Chunk{0});
  schedule.programs[2].receive(0, Rank{1}, Chunk{1});
  const Simulation even = run(network, schedule, 3000000, {.ports = 0, .records = true});
  const Simulation weighted =
      run(network, schedule, 3000000,
          {.ports = 0, .sharing = Sharing::latency_weighted, .records = true});
  const auto arrival = [](const Simulation& of, std::uint32_t rank) {
    for (const Activity& each : of.activities) {
      if (each.rank == rank) return each.end;
    }
    return -1.0;
  };
  // Latencies of 4 µs and 2 µs: one third and two thirds of the link, until the nearer flow ends.
  EXPECT_NEAR(arrival(even, 1), 2e-3, 1e-5);
  EXPECT_NEAR(arrival(weighted, 1), 1.5e-3, 1e-5);
  EXPECT_NEAR(arrival(weighted, 0), 2e-3, 1e-5);
}

TEST(Simulation, RejectsInvalidInput) {
  const auto refuse = [](const auto& call, const std::string& part) {
    test::expect_error(call, ErrorCode::invalid_argument, part);
  };
  refuse([] { (void)run("star:4", "allreduce/ring", 8, 8); }, "has 4");
  Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 4});
  ring.programs[2] = Program(6);
  refuse([&] { (void)run(generate("star:4"), ring, 8, {}); }, "do not match");
  refuse([] { (void)run("star:4", "allreduce/ring", 4, 8, {.alpha = -1}); }, "negative");
  refuse([] { (void)run("star:4", "allreduce/ring", 4, 8, {.places = {Rank{0}}}); }, "place");
  refuse(
      [] {
        (void)run("star:4", "allreduce/ring", 2, 8, {.places = {Rank{0}, Rank{9}}});
      },
      "rank 9");
}

TEST(Simulation, RejectsDeadlock) {
  Schedule knot{.name = "knot",
                .contract = {.collective = Collective::allgather, .ranks = 2, .chunks = 2},
                .programs = std::vector<Program>(2, Program(2))};
  for (std::uint32_t r = 0; r < 2; ++r) {
    knot.programs[r].receive(0, 1 - r, Chunk{0});
    knot.programs[r].send(1, 1 - r, Chunk{0});
  }
  test::expect_error([&] { (void)run(generate("star:2"), knot, 8, {}); },
                     ErrorCode::invalid_argument, "deadlocks");
}

/// If all slices of a message flowed at once, none of them could be forwarded before the others.
TEST(Simulation, SlicesOfAMessageAreServedInOrder) {
  std::vector<double> times;
  for (const std::uint32_t ports : {1U, 2U, 4U, 0U}) {
    times.push_back(
        run("star:8", "broadcast/chain", 8, 64 << 20, {.ports = ports, .slice = 1 << 20}).seconds);
  }
  // Seven hops of 64 slices in a pipeline.
  const double expected = 70 * ((1 << 20) / 12.5e9);
  for (const double each : times) EXPECT_NEAR(each, expected, 0.04 * expected);
  EXPECT_LE(*std::max_element(times.begin(), times.end()), 1.03 * times.back());
}

/// As on a connection. If all segments of a chain flowed at once, none could be forwarded before
/// the others.
TEST(Simulation, MessagesOfAPairFlowOneAfterTheOther) {
  const Schedule chain = algorithm("broadcast/chain:segments=16").schedule({.ranks = 8});
  const Network star = generate("star:8,latency=0");
  const std::uint64_t size = 16 << 20;
  const double segment = (1 << 20) / 12.5e9;
  for (const std::uint32_t ports : {0U, 1U, 4U}) {
    EXPECT_NEAR(run(star, chain, size, {.ports = ports}).seconds, 22 * segment, 0.1 * segment)
        << ports;
  }
  EXPECT_GT(run(star, chain, size, {.ports = 0, .in_order = false}).seconds, 100 * segment);
}

/// Rank 0 has two messages for rank 1 that are ready, but the first one waits for data of rank 2.
/// If the other two took both ports, none of them could flow.
TEST(Simulation, MessagesThatWaitForTheirTurnHoldNoPort) {
  Schedule relay{.name = "relay",
                 .contract = {.collective = Collective::allgather, .ranks = 3, .chunks = 6},
                 .programs = std::vector<Program>(3, Program(2))};
  relay.programs[2].send(0, Rank{0}, Chunk{4});
  relay.programs[0].receive(0, Rank{2}, Chunk{4});
  for (const std::uint64_t chunk : {4U, 0U, 1U}) {
    relay.programs[0].send(1, Rank{1}, Chunk{chunk});
    relay.programs[1].receive(1, Rank{0}, Chunk{chunk});
  }
  const double message = (1 << 20) / 12.5e9;
  for (const std::uint32_t ports : {2U, 0U}) {
    const Simulation found =
        run(generate("star:3,latency=0"), relay, 6 << 20, {.ports = ports, .records = true});
    EXPECT_NEAR(found.seconds, 4 * message, 1e-9) << ports;
    expect_path_to_add_up(found);
  }
}

/// Different messages still share a link fairly.
TEST(Simulation, SlicesOfDifferentMessagesShareALink) {
  const Simulation found =
      run("star:3,latency=0", "gather/flat", 3, 3 << 20, {.ports = 0, .slice = 1 << 16});
  ASSERT_EQ(found.finished.size(), 3U);
  EXPECT_NEAR(found.finished[1], found.finished[2], 0.05 * found.seconds);
  EXPECT_NEAR(found.seconds, 2 * (1 << 20) / 12.5e9, 1e-9);
}

TEST(Simulation, RefusesWhatNeedsTooMuchMemory) {
  const Network network = generate("torus:64x64");
  Routes routes(network);
  const Algorithm& mesh = algorithm("alltoall/mesh");
  const Problem problem{.ranks = 4096};
  const ScheduleSource source{.name = "alltoall/mesh",
                              .contract = mesh.contract(problem),
                              .program = [&](Rank rank) { return mesh.program(problem, rank); },
                              .one_rule = true};
  test::expect_error(
      [&] {
        (void)simulate(network, routes, source, even_layout(source.contract, 1 << 20),
                       {.symmetry = false});
      },
      ErrorCode::unsupported, "GB of memory");
}

TEST(Simulation, ProgressCanEndIt) {
  struct Stop {};
  const Network network = generate("star:512");
  Routes routes(network);
  const Schedule schedule = algorithm("allreduce/ring").schedule({.ranks = 512});
  EXPECT_THROW(
      (void)simulate(network, routes, source_of(schedule), even_layout(schedule.contract, 1 << 20),
                     {.symmetry = false}, [](std::uint64_t, std::uint64_t) { throw Stop(); }),
      Stop);
}

}  // namespace
}  // namespace tutti
