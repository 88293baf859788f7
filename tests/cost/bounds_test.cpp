#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/bounds.hpp>
#include <tutti/schedule/figures.hpp>

namespace tutti {
namespace {

TEST(Bounds, NoAlgorithmGoesBelow) {
  for (const Algorithm& each : algorithms()) {
    for (std::uint32_t p = 1; p <= 24; ++p) {
      const Problem problem{.ranks = p, .shape = each.needs_shape() ? squarest(p) : Shape{}};
      const Schedule schedule = each.schedule(problem);
      for (const std::uint64_t n : {0ULL, 1ULL, 1000ULL, 65536ULL}) {
        const Figures counted = count(schedule, even_layout(schedule.contract, n));
        const Bounds least = bounds(each.collective, p, n);
        // If chunks are uneven, an average that some rank must reach may round either way.
        const std::uint64_t slack = n % p == 0 ? 0 : p;
        EXPECT_GE(counted.most_sent + slack, least.most_sent) << each.name << " p=" << p;
        EXPECT_GE(counted.most_received + slack, least.most_received) << each.name << " p=" << p;
        EXPECT_GE(counted.bytes + slack, least.bytes) << each.name << " p=" << p;
        EXPECT_GE(counted.reduced, least.reduced) << each.name << " p=" << p;
      }
    }
  }
}

/// True if no rank of the algorithm has more than one message in and one out per round.
bool is_one_ported(const Schedule& schedule) {
  for (const Program& program : schedule.programs) {
    for (const Step step : program) {
      std::size_t alike = 0;
      for (const Step other : program) {
        if (other.round == step.round && other.kind == step.kind) alike += other.peers.size();
      }
      if (alike > 1) return false;
    }
  }
  return true;
}

TEST(Bounds, OneMessagePerRoundNeedsLogarithmicRounds) {
  std::size_t checked = 0;
  for (const Algorithm& each : algorithms()) {
    if (each.needs_shape()) continue;
    for (std::uint32_t p = 2; p <= 20; ++p) {
      const Schedule schedule = each.schedule({.ranks = p});
      if (!is_one_ported(schedule)) continue;
      ++checked;
      EXPECT_GE(schedule.rounds(), bounds(each.collective, p, 1).rounds) << each.name << " p=" << p;
    }
  }
  EXPECT_GT(checked, 100U);
}

TEST(Bounds, AreReachedByTheBestAlgorithms) {
  for (std::uint32_t p = 2; p <= 33; ++p) {
    const std::uint64_t n = std::uint64_t{p} * 100;
    for (const char* name : {"allreduce/ring", "allreduce/bruck", "allgather/bruck",
                             "reduce_scatter/bruck", "alltoall/pairwise"}) {
      const Schedule schedule = algorithm(name).schedule({.ranks = p});
      const Figures counted = count(schedule, even_layout(schedule.contract, n));
      const Bounds least = bounds(schedule.contract.collective, p, n);
      EXPECT_EQ(counted.most_sent, least.most_sent) << name << " p=" << p;
      EXPECT_EQ(counted.most_received, least.most_received) << name << " p=" << p;
      EXPECT_EQ(counted.bytes, least.bytes) << name << " p=" << p;
    }
  }
}

TEST(Bounds, DoNotOverflow) {
  const std::uint64_t n = std::uint64_t{1} << 40;
  EXPECT_EQ(bounds(Collective::allreduce, 1 << 20, n).most_sent, 2 * n - (n >> 19));
}

}  // namespace
}  // namespace tutti
