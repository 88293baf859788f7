#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/retry.hpp>

#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/free_address.hpp"
#include "support/processes.hpp"
#include "support/seconds_since.hpp"

/// Tests what docs/failure.md promises.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Returns what is wrong if `f` does not throw this code with this text.
std::string fault_of(const std::function<void()>& f, ErrorCode code, const std::string& part) {
  try {
    f();
    return "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    if (error.code() == code && text.find(part) != std::string::npos) return "";
    return "not " + std::string(name(code)) + " with \"" + part +
           "\": " + std::string(name(error.code())) + ", " + text;
  }
}

/// One rank is lost after a barrier. A rank that is slow to leave the barrier detects the loss
/// there.
void lose(Communicator& comm, std::uint32_t rank, const std::function<void()>& go) {
  std::vector<float> data(1000);
  comm.barrier();
  if (comm.rank() == rank) go();
  comm.all_reduce(data);
}

class Failure : public ::testing::TestWithParam<Way> {};

TEST_P(Failure, KilledRankIsDetectedByAll) {
  const std::string faults = run_processes(4, GetParam(), [](Communicator& comm) -> std::string {
    const auto begin = Clock::now();
    std::string fault =
        fault_of([&] { lose(comm, 2, [] { raise(SIGKILL); }); }, ErrorCode::peer_lost, "rank 2");
    if (seconds_since(begin) > 1) fault += " after " + std::to_string(seconds_since(begin)) + " s";
    if (!comm.verdict() || comm.verdict()->ranks != std::vector<std::uint32_t>{2}) {
      fault += " another verdict";
    }
    return fault;
  });
  EXPECT_EQ(faults.find("rank 0"), std::string::npos) << faults;
  EXPECT_EQ(faults.find("rank 1"), std::string::npos) << faults;
  EXPECT_EQ(faults.find("rank 3"), std::string::npos) << faults;
}

/// Rank 0 waits for the message, or leaves it to the background.
TEST_P(Failure, ReceiverIsKilledInTheMiddleOfALongMessage) {
  for (const bool waits : {true, false}) {
    const std::string faults = run_processes(2, GetParam(), [&](Communicator& comm) -> std::string {
      std::vector<std::byte> data(std::size_t{64} << 20);
      bool ends = true;
      // Outlives the error, whose reference counts ThreadSanitizer does not see in libstdc++.
      std::optional<Work> sent;
      // Rank 0 may still be in the barrier when rank 1 is killed.
      const auto call = [&] {
        comm.barrier();
        if (comm.rank() == 1) {
          const Work received = comm.receive_async(std::span(data), 0);
          std::this_thread::sleep_for(std::chrono::milliseconds(3));
          raise(SIGKILL);
        }
        sent = comm.send_async(std::span<const std::byte>(data), 1);
        ends = waits || eventually([&] { return sent->test(); });
        if (ends) sent->wait();
      };
      const std::string fault = fault_of(call, ErrorCode::peer_lost, "rank 1");
      return ends ? fault : "it does not end";
    });
    EXPECT_EQ(faults.find("rank 0"), std::string::npos) << faults;
  }
}

TEST_P(Failure, SurvivorsShrinkAndContinue) {
  const std::string faults = run_processes(4, GetParam(), [](Communicator& comm) -> std::string {
    std::string fault =
        fault_of([&] { lose(comm, 0, [] { _exit(0); }); }, ErrorCode::peer_lost, "rank 0");
    const auto begin = Clock::now();
    Regrouped shrunk = comm.shrink();
    if (seconds_since(begin) > 1) fault += " late by " + std::to_string(seconds_since(begin));
    if (shrunk.gone != std::vector<std::uint32_t>{0}) fault += " others are gone";
    if (shrunk.communicator->rank() + 1 != comm.rank()) fault += " another rank";
    std::vector<float> data(1000, static_cast<float>(1 << comm.rank()));
    shrunk.communicator->all_reduce(data);
    if (data[999] != 14) fault += " a wrong sum";
    return fault;
  });
  EXPECT_EQ(faults, "");
}

TEST_P(Failure, AbortWakesAll) {
  const std::string faults = run_processes(3, GetParam(), [](Communicator& comm) -> std::string {
    if (comm.rank() == 1) {
      std::this_thread::sleep_for(50ms);
      comm.abort("the disk is full");
      return "";
    }
    const auto begin = Clock::now();
    std::string fault = fault_of([&] { comm.barrier(); }, ErrorCode::aborted,
                                 "rank 1 aborted it: the disk is full");
    if (seconds_since(begin) > 1) fault += " late";
    return fault;
  });
  EXPECT_EQ(faults, "");
}

/// The reason is longer than a message of the lifeline may be.
TEST_P(Failure, LongReasonIsTruncatedEquallyOnAllRanks) {
  constexpr std::size_t length = 20'000'000;
  const std::string faults = run_processes(3, GetParam(), [](Communicator& comm) -> std::string {
    if (comm.rank() == 1) {
      comm.abort(std::string(length, 'x'));
    } else {
      const std::string fault =
          fault_of([&] { comm.barrier(); }, ErrorCode::aborted, "rank 1 aborted it: xxx");
      if (!fault.empty()) return fault.substr(0, 200);
    }
    const std::string words = comm.verdict()->words;
    if (words.size() > 5000) return "there are " + std::to_string(words.size()) + " bytes";
    if (words.find("x… (20000000 bytes in all)") == std::string::npos) return words.substr(4000);
    return "";
  });
  EXPECT_EQ(faults, "");
}

/// The deciding rank ends its process at once; the others still get the verdict.
TEST_P(Failure, VerdictSurvivesExitOfTheDecidingRank) {
  for (int round = 0; round < 10; ++round) {
    const std::string faults = run_processes(3, GetParam(), [](Communicator& comm) -> std::string {
      std::vector<float> data(10 + comm.rank());
      const std::string fault = fault_of([&] { comm.all_reduce(data); }, ErrorCode::mismatch,
                                         "ranks make different calls");
      if (fault.empty()) _exit(0);
      return fault;
    });
    EXPECT_EQ(faults, "");
  }
}

TEST_P(Failure, LateRankIsNamedWithItsLastCall) {
  const std::string faults = run_processes(3, GetParam(), [](Communicator& comm) -> std::string {
    comm.barrier({.site = "the start"});
    if (comm.rank() == 1) {
      if (!eventually([&] { return comm.verdict().has_value(); })) return "no verdict";
      return fault_of([&] { comm.barrier(); }, ErrorCode::timed_out, "rank 1");
    }
    std::vector<float> data(10);
    return fault_of([&] { comm.all_reduce(data, Op::sum, {.timeout = 200ms, .site = "step 2"}); },
                    ErrorCode::timed_out, "after call 1, barrier");
  });
  EXPECT_EQ(faults, "");
}

TEST_P(Failure, MismatchQuotesBothCalls) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) -> std::string {
    std::vector<float> data(10);
    return fault_of(
        [&] {
          if (comm.rank() == 0) {
            comm.all_reduce(data, Op::sum, {.site = "here"});
          } else {
            comm.all_reduce(data, Op::max, {.site = "there"});
          }
        },
        ErrorCode::mismatch, "allreduce of 10 f32 by sum");
  });
  EXPECT_EQ(faults, "");
}

/// Each rank waits for the other, so no message reveals the mismatch.
TEST_P(Failure, MismatchOfCallsThatOnlyReceiveIsDetected) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) -> std::string {
    std::vector<float> data(10);
    std::vector<float> all(20);
    const auto begin = Clock::now();
    std::string fault = fault_of(
        [&] {
          if (comm.rank() == 0) {
            comm.gather(data, all, 0);
          } else {
            comm.broadcast(data, 0);
          }
        },
        ErrorCode::mismatch, "gather");
    if (seconds_since(begin) > 5) fault += " late";
    return fault;
  });
  EXPECT_EQ(faults, "");
}

TEST_P(Failure, RankThatLeavesEarlyIsNamed) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) -> std::string {
    comm.barrier();
    if (comm.rank() == 1) {
      { const Communicator gone = std::move(comm); }
      std::this_thread::sleep_for(500ms);
      return "";
    }
    return fault_of([&] { comm.barrier(); }, ErrorCode::peer_lost,
                    "left the communicator after 1 call");
  });
  EXPECT_EQ(faults, "");
}

TEST_P(Failure, RetryRepeatsWithoutLostRanks) {
  const std::string faults = run_processes(4, GetParam(), [](Communicator& comm) -> std::string {
    const std::uint32_t self = comm.rank();
    std::string fault;
    double sum = 0;
    for (int step = 0; step < 20; ++step) {
      if (self == 3 && step == 5) raise(SIGKILL);
      if (self == 1 && step == 11) raise(SIGKILL);
      std::vector<float> data(2000, 1);
      const Retried retried = with_retry(
          comm, [&](Communicator& group) { group.all_reduce(data); }, data);
      if (data[1999] != static_cast<float>(retried.ranks)) fault += " a wrong sum";
      sum += data[0];
      if (!retried.gone.empty() && retried.gone.size() != 1) fault += " gone";
    }
    // Steps 0 to 4 with four, to 10 with three, and the rest with two.
    if (sum != 5 * 4 + 6 * 3 + 9 * 2) fault += " the sum of all is " + std::to_string(sum);
    return fault;
  });
  for (const char* const survivor : {"rank 0", "rank 2"}) {
    EXPECT_EQ(faults.find(survivor), std::string::npos) << faults;
  }
}

INSTANTIATE_TEST_SUITE_P(Api, Failure, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "Memory" : "Tcp";
                         });

TEST(Growth, AddsAWaitingProcess) {
  const std::string at = free_address();
  const pid_t newcomer = fork();
  ASSERT_GE(newcomer, 0);
  if (newcomer == 0) {
    int code = 1;
    try {
      Communicator comm = Communicator::join(at, 20s);
      std::vector<float> data(100, 4);
      comm.all_reduce(data);
      if (comm.size() == 4 && comm.rank() == 3 && data[99] == 7 && comm.completed() == 5) code = 0;
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(code);
  }
  const std::string faults = run_processes(3, Way::automatic, [&](Communicator& comm) {
    comm.set_completed(5);
    std::optional<Communicator> grown = comm.grow({.at = at, .most = 1, .wait = 10s}).communicator;
    if (!grown) return "no process joined";
    std::vector<float> data(100, 1);
    grown->all_reduce(data);
    return grown->size() == 4 && grown->rank() == comm.rank() && data[0] == 7 ? "" : "a wrong sum";
  });
  EXPECT_EQ(faults, "");
  int status = 0;
  ASSERT_EQ(waitpid(newcomer, &status, 0), newcomer);
  EXPECT_EQ(status, 0);
}

TEST(Growth, MayWaitLongerThanTheCallTimeout) {
  const std::string at = free_address();
  setenv("TUTTI_TIMEOUT", "1", 1);
  EXPECT_EQ(run_processes(2, Way::automatic,
                          [&](Communicator& comm) {
                            const bool none = !comm.grow({.at = at, .wait = 1500ms}).communicator;
                            comm.barrier();
                            return none ? "" : "a process joined";
                          }),
            "");
  unsetenv("TUTTI_TIMEOUT");
}

TEST(Growth, ReturnsNothingIfNoProcessWaits) {
  const std::string at = free_address();
  EXPECT_EQ(run_processes(2, Way::automatic,
                          [&](Communicator& comm) {
                            const bool none = !comm.grow({.at = at}).communicator;
                            comm.barrier();
                            return none ? "" : "a process joined";
                          }),
            "");
}

TEST(FailureOfThreads, AbortWakesAll) {
  run_threads(4, [](Communicator& comm) {
    if (comm.rank() == 3) {
      std::this_thread::sleep_for(20ms);
      comm.abort("enough");
      return;
    }
    expect_error([&] { comm.barrier(); }, ErrorCode::aborted, "enough");
  });
}

/// No other rank tells it that the communicator has failed.
TEST(FailureOfThreads, AbortEndsReceivesOfARankAlone) {
  run_threads(2, [](Communicator& comm) {
    std::optional<Communicator> own_group = comm.split(comm.rank());
    Communicator& alone = own_group.value();
    std::vector<int> data(1);
    const auto begin = Clock::now();
    const Work unmatched = alone.receive_async(data, 0, {.timeout = 20000ms});
    std::thread waits(
        [&] { expect_error([&] { unmatched.wait(); }, ErrorCode::aborted, "enough"); });
    std::this_thread::sleep_for(20ms);
    alone.abort("enough");
    waits.join();
    EXPECT_LT(seconds_since(begin), 5);
  });
}

TEST(FailureOfThreads, RankThatReturnsEarlyIsNamed) {
  run_threads(3, [](Communicator& comm) {
    std::vector<double> data(5000, 1);
    comm.all_reduce(data);
    if (comm.rank() == 1) return;
    expect_error([&] { comm.all_reduce(data); }, ErrorCode::peer_lost,
                 "left the communicator after 1 call");
    Regrouped shrunk = comm.shrink();
    std::fill(data.begin(), data.end(), 1);
    shrunk.communicator->all_reduce(data);
    EXPECT_EQ(data[4999], 2);
  });
}

TEST(FailureOfThreads, ExceptionInAReductionIsRethrownAndReported) {
  run_threads(3, [](Communicator& comm) {
    const bool is_culprit = comm.rank() == 1;
    const Reduction sum = reduction<float>([is_culprit](float a, float b) {
      if (is_culprit) throw std::runtime_error("division by Tuesday");
      return a + b;
    });
    std::vector<float> data(10);
    if (is_culprit) {
      EXPECT_THROW(comm.all_reduce(data, sum), std::runtime_error);
      expect_error([&] { comm.barrier(); }, ErrorCode::aborted, "division by Tuesday");
    } else {
      const auto call_on = [&] {
        comm.all_reduce(data, sum);  // Rank 1 may have sent all its data before it threw.
        comm.barrier();
      };
      expect_error(call_on, ErrorCode::aborted,
                   "rank 1 gave up: its own code threw division by Tuesday");
    }
  });
}

TEST(FailureOfThreads, AsynchronousCallCopiesItsSite) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> data(10);
    // Until rank 1 calls the barrier, the second call has not started.
    if (comm.rank() == 1) std::this_thread::sleep_for(50ms);
    Work first = comm.barrier_async();
    auto place = std::make_unique<std::string>("where rank " + std::to_string(comm.rank()) + " is");
    const Op op = comm.rank() == 0 ? Op::sum : Op::max;
    Work second = comm.all_reduce_async(data, op, {.site = *place});
    *place = std::string(place->size(), 'x');
    place.reset();
    first.wait();
    expect_error([&] { second.wait(); }, ErrorCode::mismatch, "at 'where rank 0 is'");
  });
}

TEST(FailureOfThreads, KeepInputRestoresTheInput) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> data(1000);
    std::iota(data.begin(), data.end(), 0.F);
    const std::vector<float> before = data;
    expect_error(
        [&] {
          if (comm.rank() == 1) return comm.barrier();
          comm.all_reduce(data, Op::sum, {.keep_input = true});
        },
        ErrorCode::mismatch, "barrier");
    EXPECT_EQ(data, before);
  });
}

}  // namespace
}  // namespace tutti::test
