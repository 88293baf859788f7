#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/price.hpp>

namespace tutti {
namespace {

constexpr CostModel model{.link = {.alpha = 3, .beta = 0.5}, .gamma = 0.25};

Price price(const Schedule& schedule, std::uint64_t n, const CostModel& in, Ports ports) {
  return Pricer(schedule).price(even_layout(schedule.contract, n), in, ports);
}

TEST(Price, RingMatchesTheTextbook) {
  const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 8});
  for (const Ports ports : {Ports::one, Ports::unlimited}) {
    const Price found = price(ring, 8000, model, ports);
    EXPECT_EQ(found.messages, 14U);
    EXPECT_EQ(found.bytes, 14000U);
    EXPECT_EQ(found.reduced, 7000U);
    EXPECT_DOUBLE_EQ(found.seconds, 14 * 3 + 14000 * 0.5 + 7000 * 0.25);
  }
}

TEST(Price, OnePortServesOneMessageAtATime) {
  const Schedule flat = algorithm("broadcast/flat").schedule({.ranks = 5});
  EXPECT_DOUBLE_EQ(price(flat, 10, model, Ports::one).seconds, 4 * (3 + 10 * 0.5));
  EXPECT_DOUBLE_EQ(price(flat, 10, model, Ports::unlimited).seconds, 3 + 10 * 0.5);
}

TEST(Price, FoldsWaitForAllTheirOperands) {
  const Schedule flat = algorithm("reduce/flat").schedule({.ranks = 5});
  EXPECT_DOUBLE_EQ(price(flat, 10, model, Ports::one).seconds, 4 * (3 + 10 * 0.5) + 4 * 10 * 0.25);
}

TEST(Price, MeshesTolerateChunksThatDifferByOneByte) {
  // 1 MiB in 5 chunks: some are one byte longer. The senders must stay in lockstep.
  const Schedule mesh = algorithm("allreduce/mesh_two_shot").schedule({.ranks = 5});
  const CostModel fast{.link = {.alpha = 1e-6, .beta = 1e-11}, .gamma = 5e-11};
  const double even = price(mesh, 5 * 209715, fast, Ports::one).seconds;
  const double uneven = price(mesh, 1 << 20, fast, Ports::one).seconds;
  EXPECT_NEAR(uneven, even, even * 1e-4);
}

TEST(Price, SecondsAddUpAlongTheCriticalPath) {
  for (const Algorithm& each : algorithms()) {
    for (const std::uint32_t p : {2U, 5U, 8U, 12U, 13U}) {
      const Problem problem{.ranks = p, .shape = each.needs_shape() ? squarest(p) : Shape{}};
      const Schedule schedule = each.schedule(problem);
      for (const Ports ports : {Ports::one, Ports::unlimited}) {
        const Price found = price(schedule, 977 * p, model, ports);
        const double sum = static_cast<double>(found.messages) * model.link.alpha +
                           static_cast<double>(found.bytes) * model.link.beta +
                           static_cast<double>(found.reduced) * model.gamma;
        EXPECT_NEAR(found.seconds, sum, 1e-9 * sum) << each.name << " p=" << p;
      }
    }
  }
}

TEST(Price, UnlimitedPortsAreNeverSlower) {
  for (const Algorithm& each : algorithms()) {
    for (std::uint32_t p = 1; p <= 17; ++p) {
      const Problem problem{.ranks = p, .shape = each.needs_shape() ? squarest(p) : Shape{}};
      const Schedule schedule = each.schedule(problem);
      const double one = price(schedule, 720720, model, Ports::one).seconds;
      const double many = price(schedule, 720720, model, Ports::unlimited).seconds;
      EXPECT_LE(many, one * (1 + 1e-12)) << each.name << " p=" << p;
    }
  }
}

TEST(Price, DualCostsTheSameIfAddingIsFree) {
  const CostModel without_adding{.link = {.alpha = 3, .beta = 0.5}};
  for (std::uint32_t p = 1; p <= 17; ++p) {
    for (const char* name : {"binomial", "chain", "flat"}) {
      const auto seconds = [&](const std::string& collective) {
        const Schedule schedule = algorithm(collective + "/" + name).schedule({.ranks = p});
        return price(schedule, 64, without_adding, Ports::one).seconds;
      };
      EXPECT_DOUBLE_EQ(seconds("broadcast"), seconds("reduce")) << name << " p=" << p;
    }
  }
}

TEST(Price, LinksInsideANodeHaveTheirOwnSpeed) {
  const Schedule chain = algorithm("broadcast/chain").schedule({.ranks = 4});
  const CostModel nodes{
      .link = {.alpha = 100, .beta = 0}, .ranks_per_node = 2, .inside = {.alpha = 1, .beta = 0}};
  // 0 → 1 inside, 1 → 2 between, 2 → 3 inside.
  EXPECT_DOUBLE_EQ(price(chain, 1, nodes, Ports::one).seconds, 102);
}

TEST(Price, RejectsUnmatchedMessages) {
  Schedule ring = algorithm("allgather/ring").schedule({.ranks = 3});
  ring.programs[1] = Program(2);
  EXPECT_THROW(Pricer{ring}, Error);
}

TEST(Price, RejectsDeadlocks) {
  // Each rank sends back what it receives from the other.
  Schedule circle{.name = "circle",
                  .contract = {.collective = Collective::allreduce, .ranks = 2, .chunks = 1},
                  .programs = {Program(2), Program(2)}};
  for (std::uint32_t r = 0; r < 2; ++r) {
    circle.programs[r].receive(0, 1 - r, Chunk{0});
    circle.programs[r].send(1, 1 - r, Chunk{0});
  }
  for (const Ports ports : {Ports::one, Ports::unlimited}) {
    EXPECT_THROW((void)price(circle, 8, model, ports), Error);
  }
}

}  // namespace
}  // namespace tutti
