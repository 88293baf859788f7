#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/crossover.hpp>

namespace tutti {
namespace {

Schedule schedule(const char* name, std::uint32_t p) {
  return algorithm(name).schedule({.ranks = p});
}

double seconds(const Schedule& schedule, std::uint64_t n, const CostModel& model) {
  return Pricer(schedule).price(even_layout(schedule.contract, n), model, Ports::one).seconds;
}

constexpr std::uint64_t terabyte = std::uint64_t{1} << 40;

TEST(Crossover, IsTheFirstSizeAtWhichTheSlowerCatchesUp) {
  const CostModel model{.link = {.alpha = 1e-6, .beta = 1e-11}};
  const Schedule ring = schedule("allreduce/ring", 16);
  const Schedule tree = schedule("allreduce/binomial", 16);
  const Crossover found = crossover(ring, tree, model, Ports::one, 1, terabyte);
  ASSERT_TRUE(found.size);
  EXPECT_FALSE(found.first_wins_below);
  EXPECT_TRUE(found.first_wins_above);
  EXPECT_LE(seconds(ring, *found.size, model), seconds(tree, *found.size, model));
  EXPECT_GT(seconds(ring, *found.size - 1, model), seconds(tree, *found.size - 1, model));
}

TEST(Crossover, DoesNotDependOnTheOrderOfSchedules) {
  const CostModel model{.link = {.alpha = 1e-6, .beta = 1e-11}};
  const Schedule ring = schedule("allreduce/ring", 12);
  const Schedule tree = schedule("allreduce/binomial", 12);
  const Crossover one = crossover(ring, tree, model, Ports::one, 1, terabyte);
  const Crossover other = crossover(tree, ring, model, Ports::one, 1, terabyte);
  ASSERT_TRUE(one.size && other.size);
  EXPECT_NEAR(static_cast<double>(*one.size), static_cast<double>(*other.size), 1);
  EXPECT_NE(one.first_wins_below, other.first_wins_below);
}

TEST(Crossover, IsEmptyIfOneIsNeverSlower) {
  const CostModel model{.link = {.alpha = 1e-6, .beta = 1e-11}};
  const Crossover found = crossover(schedule("allreduce/bruck", 8), schedule("allreduce/root", 8),
                                    model, Ports::one, 1, terabyte);
  EXPECT_FALSE(found.size);
  EXPECT_TRUE(found.first_wins_below && found.first_wins_above);
}

TEST(Crossover, RejectsSchedulesForDifferentProblems) {
  const CostModel model{.link = {.alpha = 1e-6, .beta = 1e-11}};
  EXPECT_THROW((void)crossover(schedule("allreduce/ring", 8), schedule("allgather/ring", 8), model,
                               Ports::one, 1, terabyte),
               Error);
  EXPECT_THROW((void)crossover(schedule("allreduce/ring", 8), schedule("allreduce/ring", 9), model,
                               Ports::one, 1, terabyte),
               Error);
}

}  // namespace
}  // namespace tutti
