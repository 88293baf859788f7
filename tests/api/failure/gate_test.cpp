#include "api/failure/gate.hpp"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

TEST(Gate, ReportsWhetherItIsEmpty) {
  Gate gate;
  ASSERT_TRUE(gate.enter());
  EXPECT_TRUE(gate.leave());
  ASSERT_TRUE(gate.enter());
  EXPECT_FALSE(gate.close());
  EXPECT_TRUE(gate.is_closed());
  EXPECT_FALSE(gate.leave());
  EXPECT_FALSE(gate.enter());
  EXPECT_TRUE(gate.close()) << "a thread that was rejected is not inside";
}

/// One thread passes each gate while another closes it, as nearly at the same time as possible.
/// Returns, for each gate, the results of pass() and close().
template <class Pass>
std::vector<std::pair<bool, bool>> race(std::vector<Gate>& gates, Pass pass) {
  std::vector<std::pair<bool, bool>> answers(gates.size());
  std::atomic<std::size_t> arrivals{0};
  const auto meet = [&](std::size_t round) {
    arrivals.fetch_add(1);
    while (arrivals.load() < 2 * (round + 1)) std::atomic_signal_fence(std::memory_order_seq_cst);
  };
  std::thread closer([&] {
    for (std::size_t i = 0; i < gates.size(); ++i) {
      meet(i);
      answers[i].second = gates[i].close();
    }
  });
  for (std::size_t i = 0; i < gates.size(); ++i) {
    meet(i);
    answers[i].first = pass(gates[i]);
  }
  closer.join();
  return answers;
}

constexpr std::size_t races = is_sanitized ? 200 : 20000;

TEST(Gate, CloseSeesAThreadThatEnters) {
  std::vector<Gate> gates(races);
  for (const auto& [has_entered, is_empty] : race(gates, [](Gate& gate) { return gate.enter(); })) {
    ASSERT_FALSE(has_entered && is_empty);
  }
}

TEST(Gate, LeaveSeesThatTheGateIsClosed) {
  std::vector<Gate> gates(races);
  for (Gate& gate : gates) ASSERT_TRUE(gate.enter());
  for (const auto& [is_open, is_empty] : race(gates, [](Gate& gate) { return gate.leave(); })) {
    ASSERT_FALSE(is_open && !is_empty);
  }
}

}  // namespace
}  // namespace tutti::test
