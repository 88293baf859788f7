#include <signal.h>

#include <thread>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/processes.hpp"
#include "support/seconds_since.hpp"

/// shrink() where nothing has failed, or not yet.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Empty if shrink() is refused, at once, since nothing has failed.
std::string fault_of_refusal(Communicator& comm) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    (void)comm.shrink();
    return "shrink() was not refused; ";
  } catch (const Error& error) {
    const std::string words = error.what();
    if (error.code() != ErrorCode::invalid_argument) return words + "; ";
    if (words.find("has not failed") == std::string::npos) return words + "; ";
  }
  return seconds_since(begin) < 1 ? "" : "shrink() was refused late; ";
}

std::string fault_of_ones(Communicator& comm, std::uint32_t ranks) {
  std::vector<std::uint32_t> data(1000, 1);
  comm.all_reduce(data);
  return data[999] == ranks ? "" : "a sum of " + std::to_string(data[999]) + "; ";
}

class Shrink : public ::testing::TestWithParam<Way> {};

TEST_P(Shrink, IsRefusedIfNothingHasFailed) {
  const auto work = [](Communicator& comm) -> std::string {
    std::string fault;
    for (int round = 0; round < 3; ++round) {
      if (comm.rank() == 1) fault += fault_of_refusal(comm);
      fault += fault_of_ones(comm, 3);
    }
    fault += fault_of_refusal(comm);  // On all ranks.
    fault += fault_of_ones(comm, 3);
    return fault + (comm.verdict() ? "there is a verdict" : "");
  };
  EXPECT_EQ(run_processes(3, GetParam(), work), "");
}

/// The error was the rank's own, and the others know nothing of it.
TEST_P(Shrink, IsRefusedAfterAWrongArgument) {
  const auto work = [](Communicator& comm) -> std::string {
    std::string fault;
    std::vector<float> data(10, 1);
    try {
      comm.broadcast(data, comm.rank() == 0 ? 7 : 2);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) return error.what();
      fault += fault_of_refusal(comm);
      comm.broadcast(data, 2);
    }
    return fault + fault_of_ones(comm, 3);
  };
  EXPECT_EQ(run_processes(3, GetParam(), work), "");
}

/// A rank that is slow to leave the barrier may learn there what rank 2 does after it.
void meet(Communicator& comm) {
  try {
    comm.barrier();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::peer_lost) throw;
  }
}

/// Rank 2 dies while rank 1 tries again and again. The ranks that call are refused only as long as
/// nothing has failed, and then all of them shrink alike.
TEST_P(Shrink, RacesWithAFailureOfAnotherRank) {
  for (int round = 0; round < 10; ++round) {
    const auto work = [&](Communicator& comm) -> std::string {
      meet(comm);
      if (comm.rank() == 2) {
        std::this_thread::sleep_for(std::chrono::microseconds(300 * round));
        raise(SIGKILL);
      }
      const auto begin = std::chrono::steady_clock::now();
      std::string fault;
      std::optional<Regrouped> shrunk;
      while (!shrunk && seconds_since(begin) < 20) {
        try {
          if (comm.rank() != 1 && !comm.verdict()) fault += fault_of_ones(comm, 4);
          shrunk = comm.shrink();
        } catch (const Error& error) {
          const bool is_refusal = error.code() == ErrorCode::invalid_argument;
          if (!is_refusal && error.code() != ErrorCode::peer_lost) fault += error.what();
        }
      }
      if (!shrunk) return fault + "it does not shrink";
      if (seconds_since(begin) > 10) fault += "late; ";
      if (comm.verdict()->ranks != std::vector<std::uint32_t>{2}) fault += comm.verdict()->words;
      if (shrunk->gone != std::vector<std::uint32_t>{2}) fault += "others are gone; ";
      return fault + fault_of_ones(*shrunk->communicator, 3);
    };
    EXPECT_EQ(run_processes(4, GetParam(), work), "rank 2 ended with status 9\n");
  }
}

/// Nothing has failed, but the others may shrink to go on without a rank that has left.
TEST_P(Shrink, LeavesOutARankThatHasLeft) {
  const auto work = [](Communicator& comm) -> std::string {
    meet(comm);
    if (comm.rank() == 2) {
      { const Communicator gone = std::move(comm); }
      std::this_thread::sleep_for(300ms);
      return "";
    }
    std::optional<Regrouped> shrunk;
    const auto begin = std::chrono::steady_clock::now();
    const bool has_shrunk = eventually([&] {
      try {
        shrunk = comm.shrink();
      } catch (const Error& error) {
        if (error.code() != ErrorCode::invalid_argument) throw;
      }
      return shrunk.has_value();
    });
    if (!has_shrunk) return "it does not shrink";
    std::string fault = seconds_since(begin) > 2 ? "late; " : "";
    if (shrunk->gone != std::vector<std::uint32_t>{2}) fault += "others are gone; ";
    return fault + fault_of_ones(*shrunk->communicator, 3);
  };
  EXPECT_EQ(run_processes(4, GetParam(), work), "");
}

INSTANTIATE_TEST_SUITE_P(Api, Shrink, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "Memory" : "Tcp";
                         });

TEST(ShrinkOfThreads, IsRefusedIfNothingHasFailed) {
  run_threads(4, [](Communicator& comm) {
    if (comm.rank() == 3) {
      EXPECT_EQ(fault_of_refusal(comm), "");
    }
    EXPECT_EQ(fault_of_ones(comm, 4), "");
    EXPECT_FALSE(comm.verdict());
  });
}

TEST(ShrinkOfThreads, OneRankAloneIsRefusedToo) {
  run_threads(1, [](Communicator& comm) {
    EXPECT_EQ(fault_of_refusal(comm), "");
    EXPECT_EQ(fault_of_ones(comm, 1), "");
    comm.abort("enough");
    Regrouped shrunk = comm.shrink();
    EXPECT_EQ(fault_of_ones(*shrunk.communicator, 1), "");
  });
}

/// As the refusal advises.
TEST(ShrinkOfThreads, FollowsAnAbort) {
  run_threads(3, [](Communicator& comm) {
    if (comm.rank() == 1) comm.abort("the ranks are to shrink");
    EXPECT_TRUE(eventually([&] { return comm.verdict().has_value(); }));
    Regrouped shrunk = comm.shrink();
    EXPECT_TRUE(shrunk.gone.empty());
    EXPECT_EQ(fault_of_ones(*shrunk.communicator, 3), "");
  });
}

}  // namespace
}  // namespace tutti::test
