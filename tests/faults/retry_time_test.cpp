#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/retry.hpp>

#include "support/forked_child.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"
#include "support/sanitizer.hpp"
#include "support/seconds_since.hpp"

/// The time that a call with retry may take while ranks die: docs/failure.md states it.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::uint32_t ranks = 6;
constexpr std::uint32_t deaths = 3;
/// Two seconds for each death.
constexpr double longest_s = is_sanitized ? 60 : 2.0 * deaths;

/// When each rank dies after the start; never: zero.
std::vector<std::chrono::microseconds> times_of_death(Random& random) {
  std::vector<std::chrono::microseconds> times(ranks);
  const auto first = std::chrono::microseconds(1000 + random.below(20000U));
  for (std::uint32_t left = deaths; left > 0;) {
    auto& time = times[random.below(ranks)];
    if (time.count() > 0) continue;
    time = first + std::chrono::microseconds(random.below(12000U));
    --left;
  }
  return times;
}

/// Calls until some time after the deaths. Returns what is wrong.
std::string fault_of_retries(Communicator& comm, std::uint64_t seed, std::uint64_t number) {
  Random random(seed * 1000 + number);
  const std::vector<std::chrono::microseconds> deaths_at = times_of_death(random);
  const std::chrono::microseconds own = deaths_at[comm.rank()];
  // A rank that is still in the barrier detects the first deaths there.
  (void)with_retry(
      comm, [](Communicator& group) { group.barrier(); }, std::span<const std::span<std::byte>>{});
  if (own.count() > 0) {
    std::thread([own] {
      std::this_thread::sleep_for(own);
      kill(getpid(), SIGKILL);
    }).detach();
  }
  const auto begin = steady_clock::now();
  std::uint32_t calls = 0;
  std::vector<std::uint32_t> left(1);
  do {
    std::vector<std::uint32_t> data(1U << random.below(20U), 1);
    const auto begun = steady_clock::now();
    const Retried retried = with_retry(
        comm, [&](Communicator& group) { group.all_reduce(data); }, data);
    const double took = seconds_since(begun);
    if (data.back() != retried.ranks) return "a wrong sum";
    ++calls;
    if (took > longest_s) {
      return "call " + std::to_string(calls) + " of seed " + std::to_string(seed) + ", " +
             std::to_string(number) + " took " + std::to_string(took) + " s with " +
             std::to_string(retried.repeats) + " repeats";
    }
    // All ranks leave at the same call.
    left[0] = seconds_since(begin) > 0.1 && comm.size() <= ranks - deaths ? 1 : 0;
    (void)with_retry(
        comm, [&](Communicator& group) { group.all_reduce(left, Op::min); }, left);
  } while (left[0] == 0 && seconds_since(begin) < 60);
  return comm.size() == ranks - deaths ? "" : "not all deaths were noticed";
}

std::string fault_of_case(std::uint64_t seed, std::uint64_t number, std::uint32_t ranks_per_host) {
  Meeting meeting;
  std::vector<std::unique_ptr<ForkedChild>> children;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    children.push_back(std::make_unique<ForkedChild>([&, rank] {
      FabricSettings fabric{.secret = {.bytes = "s"}};
      fabric.host_id = std::to_string(rank / ranks_per_host);
      Communicator comm = meeting.join(rank, ranks, fabric, 10s);
      return fault_of_retries(comm, seed, number);
    }));
  }
  std::string faults;
  Random random(seed * 1000 + number);
  const std::vector<std::chrono::microseconds> deaths_at = times_of_death(random);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string fault = children[rank]->wait();
    if (deaths_at[rank].count() > 0 || fault.empty()) continue;
    faults += "rank " + std::to_string(rank) + ": " + fault + "\n";
  }
  return faults;
}

TEST(RetryTime, IsBoundedIfThreeRanksDieAtOnce) {
  constexpr std::uint64_t seed = 1;
  for (std::uint64_t number = 0; number < 10; ++number) {
    const std::uint32_t ranks_per_host = number % 2 == 0 ? 2 : 3;
    EXPECT_EQ(fault_of_case(seed, number, ranks_per_host), "") << number;
  }
}

}  // namespace
}  // namespace tutti::test
