#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/trace.hpp>

#include "support/golden.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

/// The rank that holds the whole sum of a chunk at the end.
Rank holder(const Contract& contract, Chunk chunk) {
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    if (contract.output(r).contains(chunk)) return r;
  }
  return contract.root;
}

/// The order in which each algorithm adds: what its row in the table says, and what it does. A
/// change here changes the bits of floating-point sums.
TEST(Golden, OrdersOfSums) {
  std::string text;
  for (const Algorithm* algorithm : every_algorithm()) {
    if (algorithm->order.empty()) continue;
    const Problem problem = small_problem(*algorithm);
    const Schedule schedule = algorithm->schedule(problem);
    Trace trace(schedule);
    while (trace.round() < schedule.rounds()) trace.advance();
    text += std::string(algorithm->name) + ", " + words(problem) + ": " +
            std::string(algorithm->order) + "\n";
    for (std::uint64_t c = 0; c < schedule.contract.chunks; ++c) {
      const Symbol sum = trace.held(holder(schedule.contract, Chunk{c}), Chunk{c});
      text += "  " + to_string(trace.symbols(), sum) + "\n";
    }
  }
  expect_golden("orders.txt", text);
}

}  // namespace
}  // namespace tutti::test
