#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/bucketer.hpp>
#include <tutti/memory.hpp>
#include <tutti/tutti.h>

#include "support/errors.hpp"
#include "support/forked_child.hpp"
#include "support/processes.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_directory.hpp"
#include "support/variable.hpp"

/// A forked child of a rank gets an error from every call, and cannot harm the rank.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Ending = ForkedChild::Ending;

/// Returns what is wrong with a call that should throw aborted with a message about fork().
std::string fault_of_inherited(const std::function<void()>& call) {
  try {
    call();
    return "nothing was thrown;";
  } catch (const Error& error) {
    const std::string text = error.what();
    if (error.code() == ErrorCode::aborted && text.find("fork") != std::string::npos) return "";
    return std::string(name(error.code())) + ": " + text + ";";
  }
}

/// Returns what is wrong with a sum over all ranks, which contribute 1, 2, 3, ….
std::string fault_of_sum(Communicator& comm) {
  std::vector<int> data(1000, static_cast<int>(comm.rank()) + 1);
  comm.all_reduce(data);
  const int sum = static_cast<int>(comm.size() * (comm.size() + 1) / 2);
  const auto wrong = std::ranges::find_if(data, [&](int each) { return each != sum; });
  if (wrong == data.end()) return "";
  return "the sum is " + std::to_string(*wrong) + " and not " + std::to_string(sum) + ";";
}

class Fork : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (!can_fork_beside_threads) GTEST_SKIP() << "this sanitizer does not support these forks";
    std::fflush(nullptr);  // Children that call exit() would write it again.
  }
};

TEST_P(Fork, InheritedCommunicatorThrowsInChild) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) {
    std::string fault = fault_of_sum(comm);
    ForkedChild child([&] {
      std::vector<int> data(1000, 99);
      return fault_of_inherited([&] { comm.all_reduce(data); }) +
             fault_of_inherited([&] { (void)comm.all_reduce_async(data); }) +
             fault_of_inherited([&] { comm.send(data, 1 - comm.rank()); }) +
             fault_of_inherited([&] { (void)comm.split(0); }) +
             fault_of_inherited([&] { (void)comm.duplicate(); }) +
             fault_of_inherited([&] { comm.abort("a child's whim"); }) +
             fault_of_inherited([&] { (void)comm.verdict(); }) +
             fault_of_inherited([&] { (void)comm.shrink(); });
    });
    fault += child.wait();
    for (int i = 0; i < 3; ++i) fault += fault_of_sum(comm);
    return fault;
  });
  EXPECT_EQ(faults, "");
}

/// The communicator of a program that keeps it in a global variable.
std::unique_ptr<Communicator>& global_communicator() {
  static std::unique_ptr<Communicator> global;
  return global;
}

TEST_P(Fork, ChildExitsThroughStaticDestructorsAfterAsyncCall) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) {
    global_communicator() = std::make_unique<Communicator>(comm.duplicate());
    std::vector<int> data(1000, 1);
    global_communicator()->all_reduce_async(data).wait();
    ForkedChild child([] { return ""; }, Ending::exit);
    std::string fault = child.wait() + fault_of_sum(*global_communicator());
    global_communicator().reset();
    return fault;
  });
  EXPECT_EQ(faults, "");
}

/// Throws the error that a callback gets. Returns after five seconds if the callback is not called.
void rethrow_from_callback(const Work& work) {
  const auto told = std::make_shared<std::promise<void>>();
  work.then([told](const std::exception_ptr& failure) {
    failure ? told->set_exception(failure) : told->set_value();
  });
  std::future<void> outcome = told->get_future();
  if (outcome.wait_for(5s) == std::future_status::ready) outcome.get();
}

TEST_P(Fork, WorkUnderWayThrowsInChild) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) {
    Communicator other = comm.duplicate();
    std::vector<int> data(1000, 1);
    std::string fault;
    if (comm.rank() == 0) {
      const Work work = comm.all_reduce_async(data);
      ForkedChild child(
          [&] {
            return fault_of_inherited([&] { work.wait(); }) +
                   fault_of_inherited([&] { (void)work.wait_for(1s); }) +
                   fault_of_inherited([&] { rethrow_from_callback(work); });
          },
          Ending::exit);
      fault = child.wait();
      other.barrier();
      work.wait();
    } else {
      other.barrier();  // The work is under way until the child has ended.
      comm.all_reduce(data);
    }
    return fault + fault_of_sum(comm);
  });
  EXPECT_EQ(faults, "");
}

TEST_P(Fork, BucketerThrowsInChild) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) {
    std::vector<float> one(1000, 1);
    std::vector<float> two(500, 2);
    const std::vector<Tensor> tensors{tensor(one), tensor(two)};
    auto bucketer = std::make_unique<Bucketer>(comm, tensors);
    ForkedChild child([&] {
      std::string fault = fault_of_inherited([&] {
        bucketer->ready(0);
        bucketer->ready(1);
        bucketer->finish();
      });
      bucketer.reset();
      return fault;
    });
    std::string fault = child.wait();
    bucketer->ready(0);
    bucketer->ready(1);
    bucketer->finish();
    if (one[999] != 1 || two[499] != 2) fault += "a wrong average";
    return fault;
  });
  EXPECT_EQ(faults, "");
}

using SharedVector = std::vector<int, Allocator<int>>;

TEST_P(Fork, SharedMemoryIsACopyInChild) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) {
    auto shared = std::make_unique<SharedVector>(100000, 7);
    ForkedChild child([&]() -> std::string {
      if (shared->front() != 7 || shared->back() != 7) return "the child sees something else";
      std::fill(shared->begin(), shared->end(), 8);
      shared.reset();
      const SharedVector own(100000, 9);  // A child has a heap of its own.
      return std::accumulate(own.begin(), own.end(), 0) == 900000 ? "" : "a wrong sum";
    });
    std::string fault = child.wait();
    if (!std::ranges::all_of(*shared, [](int each) { return each == 7; })) fault += "harmed;";
    comm.all_reduce(*shared);
    if (shared->back() != 14) fault += "a wrong sum;";
    return fault;
  });
  EXPECT_EQ(faults, "");
}

/// Like a data loader: workers compute on private memory while the rank calls collectives.
TEST_P(Fork, RankContinuesWhileChildrenStartAndEnd) {
  const std::string faults = run_processes(3, GetParam(), [](Communicator& comm) {
    global_communicator() = std::make_unique<Communicator>(comm.duplicate());
    std::string fault;
    const auto compute = [] {
      std::vector<int> numbers(10000);
      std::iota(numbers.begin(), numbers.end(), 0);
      return std::accumulate(numbers.begin(), numbers.end(), 0) == 49995000 ? "" : "a wrong sum;";
    };
    for (int round = 0; round < 5; ++round) {
      std::vector<int> large(100000, 1);
      const Work work = global_communicator()->all_reduce_async(large);
      ForkedChild exits(compute, Ending::exit);
      ForkedChild ends(compute, Ending::at_once);
      ForkedChild killed([] {
        std::this_thread::sleep_for(60s);
        return "not killed;";
      });
      ForkedChild destroys(
          [&] {
            global_communicator().reset();
            return compute();
          },
          Ending::exit);
      fault += fault_of_sum(comm);
      killed.kill();
      fault += exits.wait() + ends.wait() + destroys.wait();
      if (killed.wait() != " ended by signal 9") fault += "not killed;";
      work.wait();
      if (large.back() != 3) fault += "a wrong sum;";
      fault += fault_of_sum(*global_communicator());
    }
    global_communicator().reset();
    return fault;
  });
  EXPECT_EQ(faults, "");
}

TEST_P(Fork, ChildrenCanMakeNewCommunicators) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) {
    const UniqueId id = UniqueId::make();
    const auto be = [&](std::uint32_t rank) {
      return [&id, rank] {
        Communicator own = Communicator::create(id, rank, 2);
        std::string fault = fault_of_sum(own);
        std::vector<int> data(100, 1);
        own.all_reduce_async(data).wait();
        return fault + (data[99] == 2 ? "" : "a wrong sum;");
      };
    };
    ForkedChild first(be(0));
    ForkedChild second(be(1));
    return fault_of_sum(comm) + first.wait() + second.wait() + fault_of_sum(comm);
  });
  EXPECT_EQ(faults, "");
}

INSTANTIATE_TEST_SUITE_P(Api, Fork, ::testing::Values(Way::memory, Way::tcp), [](const auto& each) {
  return each.param == Way::memory ? "SharingMemory" : "OverTcp";
});

TEST(ForkBesideThreads, ChildrenCanAllocate) {
  if (!can_fork_beside_threads) GTEST_SKIP() << "this sanitizer does not support these forks";
  const auto allocate = [] {
    std::vector<std::vector<char>> blocks;
    for (std::size_t i = 0; i < 300; ++i) blocks.emplace_back(97 * i + 1);
  };
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) allocate();
  });
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    ForkedChild child([&] {
      allocate();
      return "";
    });
    EXPECT_EQ(child.wait(), "") << "child " << i;
  }
  is_over = true;
  other.join();
}

/// The child holds no connection of its parent, so these close when the rank dies.
TEST(ForkFailure, KilledRankIsDetectedWhileItsChildLives) {
  if (sanitizer == "thread") GTEST_SKIP() << "a thread sanitizer cannot follow these forks";
  const std::string faults = run_processes(
      2, Way::tcp,
      [](Communicator& comm) -> std::string {
        std::string fault = fault_of_sum(comm);
        if (comm.rank() == 1) {
          if (fork() == 0) {
            std::this_thread::sleep_for(4s);
            _exit(0);
          }
          raise(SIGKILL);
        }
        const Clock::time_point begin = Clock::now();
        try {
          comm.barrier({.timeout = 30s});
          return "nothing was thrown";
        } catch (const Error& error) {
          if (error.code() != ErrorCode::peer_lost) fault += error.what();
        }
        if (Clock::now() - begin > 3s) fault += "noticed too late";
        return fault;
      },
      1);
  EXPECT_EQ(faults.find("rank 0"), std::string::npos) << faults;
}

TEST(ForkInThreads, ChildThatReturnsGetsAnError) {
  if (sanitizer == "thread") GTEST_SKIP() << "a thread sanitizer cannot follow these forks";
  std::fflush(nullptr);
  const pid_t parent = getpid();
  std::unique_ptr<ForkedChild> outer = std::make_unique<ForkedChild>([&]() -> std::string {
    const pid_t first = getpid();
    pid_t forked = -1;
    try {
      run_threads(3, [&](Communicator& comm) {
        comm.barrier();
        if (comm.rank() == 0) forked = fork();
        if (getpid() == first) comm.barrier();
      });
    } catch (const Error& error) {
      const bool is_child = getpid() != first;
      const bool names_fork = std::string(error.what()).find("fork") != std::string::npos;
      _exit(is_child && names_fork ? 42 : 1);
    }
    if (getpid() != first) _exit(2);
    int status = 0;
    for (int i = 0; i < 5000 && waitpid(forked, &status, WNOHANG) == 0; ++i) {
      std::this_thread::sleep_for(1ms);
    }
    kill(forked, SIGKILL);
    return WIFEXITED(status) && WEXITSTATUS(status) == 42 ? "" : "status " + std::to_string(status);
  });
  ASSERT_EQ(getpid(), parent);
  EXPECT_EQ(outer->wait(), "");
}

TEST(ForkInC, ChildGetsAnErrorThatNamesFork) {
  if (sanitizer == "thread") GTEST_SKIP() << "a thread sanitizer cannot follow these forks";
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess);
  tuttiComm_t comm = nullptr;
  ASSERT_EQ(tuttiCommInitRank(&comm, 1, id, 0), tuttiSuccess);
  ForkedChild child([&]() -> std::string {
    float x = 1;
    if (tuttiAllReduce(&x, &x, 1, tuttiFloat32, tuttiSum, comm) != tuttiAborted) return "no error";
    const std::string why = tuttiGetLastError(comm);
    if (why.find("fork") == std::string::npos) return why;
    return tuttiCommDestroy(comm) == tuttiSuccess ? "" : "not destroyed";
  });
  EXPECT_EQ(child.wait(), "");
  float x = 1;
  EXPECT_EQ(tuttiAllReduce(&x, &x, 1, tuttiFloat32, tuttiSum, comm), tuttiSuccess);
  EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
}

/// A child that dies by SIGTERM must not dump the calls of its parent.
TEST(ForkFlight, ChildDumpsNothing) {
  if (sanitizer == "thread") GTEST_SKIP() << "a thread sanitizer cannot follow these forks";
  const TemporaryDirectory directory;
  const Variable flight("TUTTI_FLIGHT", directory.path());
  const std::string faults = run_processes(2, Way::memory, [](Communicator& comm) {
    std::string fault = fault_of_sum(comm);
    ForkedChild child([] {
      raise(SIGTERM);
      return "";
    });
    if (child.wait() != " ended by signal 15") fault += "not ended;";
    return fault;
  });
  EXPECT_EQ(faults, "");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

}  // namespace
}  // namespace tutti::test
