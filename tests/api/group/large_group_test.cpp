#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "lifeline/neighbours.hpp"
#include "support/processes.hpp"
#include "support/sanitizer.hpp"

/// Groups in which ranks are not all connected to each other: what a rank takes of the system, and
/// that losses are noticed all the same.
namespace tutti::test {
namespace {

constexpr std::uint32_t ranks = 20;
/// Not a neighbour of rank 0.
constexpr std::uint32_t far = 10;

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::string fault_of(const std::function<void()>& f, ErrorCode code, const std::string& part) {
  try {
    f();
    return "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    if (error.code() == code && text.find(part) != std::string::npos) return "";
    return std::string(name(error.code())) + ", " + text;
  }
}

class LargeGroup : public ::testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Api, LargeGroup, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "Memory" : "Tcp";
                         });

/// Besides a fixed number: a connection and a pidfd for each neighbour, over TCP a data connection
/// to each rank that it has sent something, and a connection to each rank that waited so long for
/// it that it asked whether it is alive.
TEST_P(LargeGroup, RankTakesDescriptorsForItsNeighboursOnly) {
  constexpr std::size_t fixed = 8;
  const std::size_t in_test = entries("/proc/self/fd");
  for (const std::uint32_t size : {2U, 16U, 40U}) {
    const auto work = [&](Communicator& comm) -> std::string {
      // Inherited: a listener, the pipes of earlier ranks, and one pipe of its own.
      const std::size_t before = in_test + 3 + comm.rank();
      const std::size_t most = 2 * neighbours_of(comm.rank(), size).size() + fixed;
      const std::size_t at_start = entries("/proc/self/fd") - before;
      if (at_start > most) return std::to_string(at_start) + " descriptors at the start";
      std::vector<float> data(4);
      const auto begin = std::chrono::steady_clock::now();
      comm.all_reduce(data);
      comm.barrier();
      const std::size_t used = entries("/proc/self/fd") - before;
      std::vector<std::uint8_t> was_slow{std::chrono::steady_clock::now() - begin >
                                         std::chrono::milliseconds(50)};
      comm.all_reduce(was_slow, Op::max);
      if (GetParam() == Way::memory && was_slow[0] == 0 && used > most) {
        return std::to_string(used) + " descriptors after calls";
      }
      // The thread sanitizer has a thread of its own.
      if (!is_sanitized && entries("/proc/self/task") > 2) return "threads";
      return "";
    };
    EXPECT_EQ(run_processes(size, GetParam(), work), "") << size;
  }
}

TEST_P(LargeGroup, KilledRankIsNoticedByAll) {
  const auto work = [](Communicator& comm) -> std::string {
    std::vector<float> data(1000, 1);
    const auto call = [&] {
      comm.barrier();
      if (comm.rank() == far) raise(SIGKILL);
      comm.all_reduce(data);
    };
    const std::string fault = fault_of(call, ErrorCode::peer_lost, "rank 10 (");
    if (!fault.empty()) return fault;
    Regrouped shrunk = comm.shrink();
    if (shrunk.gone != std::vector<std::uint32_t>{far}) return "other ranks are gone";
    data.assign(1000, 1);
    shrunk.communicator->all_reduce(data);
    return data[7] == ranks - 1 ? "" : "a wrong sum";
  };
  const std::string faults = run_processes(ranks, GetParam(), work);
  EXPECT_EQ(faults, "rank 10 ended with status 9\n");
}

/// Ranks 0 and `far` share a communicator that no neighbour of either has.
TEST_P(LargeGroup, KilledRankIsNoticedInASmallCommunicator) {
  const auto work = [](Communicator& comm) -> std::string {
    const bool is_in_pair = comm.rank() == 0 || comm.rank() == far;
    std::optional<Communicator> pair =
        comm.split(is_in_pair ? std::optional(0U) : std::nullopt, comm.rank());
    try {
      comm.barrier();
    } catch (const Error& error) {
      // `far` may be killed while others are still in the barrier that it has left.
      if (error.code() != ErrorCode::peer_lost) throw;
    }
    if (comm.rank() == far) raise(SIGKILL);
    if (comm.rank() > 0) return "";
    std::vector<char> byte(1);
    return fault_of([&] { (void)pair->receive(byte, 1); }, ErrorCode::peer_lost, "rank 1 (");
  };
  EXPECT_EQ(run_processes(ranks, GetParam(), work), "rank 10 ended with status 9\n");
}

TEST_P(LargeGroup, RankThatLeavesIsNoticedByAllThatCall) {
  const auto work = [](Communicator& comm) -> std::string {
    std::optional<Communicator> other = comm.duplicate();
    comm.barrier();
    std::string fault;
    if (comm.rank() == far) {
      other.reset();
    } else {
      fault =
          fault_of([&] { other->barrier(); }, ErrorCode::peer_lost, "has left the communicator");
    }
    comm.barrier();
    return fault;
  };
  EXPECT_EQ(run_processes(ranks, GetParam(), work), "");
}

TEST_P(LargeGroup, RankThatLeavesIsNoticedByAReceiver) {
  const auto work = [](Communicator& comm) -> std::string {
    {
      Communicator other = comm.duplicate();
      if (comm.rank() == 0) {
        std::vector<char> byte(1);
        const std::string fault = fault_of([&] { (void)other.receive(byte, far); },
                                           ErrorCode::peer_lost, "has left the communicator");
        if (!fault.empty()) return fault;
      }
    }
    comm.barrier();
    return "";
  };
  EXPECT_EQ(run_processes(ranks, GetParam(), work), "");
}

/// All others have left by the time that rank 0 asks for `far`, and so have its neighbours.
TEST_P(LargeGroup, RankThatHasEndedInOrderIsNotTakenForDead) {
  const auto work = [](Communicator& comm) -> std::string {
    comm.barrier();
    if (comm.rank() > 0) return "";
    std::vector<char> byte(1);
    return fault_of([&] { (void)comm.receive(byte, far); }, ErrorCode::peer_lost,
                    "it has left the communicator after 1 call");
  };
  EXPECT_EQ(run_processes(ranks, GetParam(), work), "");
}

/// Threads need no descriptors, but for that of the process's shared heap.
TEST(LargeGroupOfThreads, ThousandRanksMakeCalls) {
  // Sanitizers leave little address space for the memory that ranks share.
  const std::uint32_t threads = is_sanitized ? 16 : 1024;
  const std::size_t before = entries("/proc/self/fd");
  std::size_t during = 0;
  std::atomic<std::uint32_t> right{0};
  run_threads(threads, [&](Communicator& comm) {
    std::vector<std::uint32_t> sum{comm.rank()};
    comm.all_reduce(sum);
    if (sum[0] == threads * (threads - 1) / 2) ++right;
    if (comm.rank() == 0) during = entries("/proc/self/fd");
    comm.barrier();
  });
  EXPECT_EQ(right, threads);
  EXPECT_LE(during, before + 1);
}

}  // namespace
}  // namespace tutti::test
