#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "net/socket.hpp"
#include "rendezvous/invitation.hpp"
#include "support/eventually.hpp"
#include "support/forked_child.hpp"
#include "support/free_address.hpp"
#include "support/processes.hpp"
#include "support/seccomp.hpp"
#include "support/seconds_since.hpp"

/// Groups that grow while newcomers die or stop.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

std::string fault_of_total(Communicator& comm, std::uint32_t ranks) {
  std::vector<std::uint32_t> data(1000, 1);
  comm.all_reduce(data);
  return data[999] == ranks ? "" : "a sum of " + std::to_string(data[999]) + "; ";
}

/// Waits until a group listens for newcomers.
void await_listener(const std::string& at) {
  (void)eventually([&] {
    const Socket socket = begin_connect(Endpoint::parse(at));
    std::this_thread::sleep_for(1ms);
    return socket && connected_to(socket).text() == at;
  });
}

/// Sends itself the signal after some time.
void signal_self(int number, std::chrono::microseconds after) {
  std::thread([=] {
    std::this_thread::sleep_for(after);
    kill(getpid(), number);
  }).detach();
}

/// Asks a group for admission as often as it is granted, and uses each communicator.
[[noreturn]] void join_for_ever(const std::string& at, Way way) {
  const CommunicatorOptions options{.transport = way == Way::memory ? "shm" : "tcp"};
  while (true) {
    Communicator comm = Communicator::join(at, 20s, options);
    for (int call = 0; call < 10; ++call) comm.barrier();
  }
}

/// The members' side: the outcome is the same on all of them, in time, and the group goes on.
std::string fault_of_growth(Communicator& comm, const Communicator::Growth& growth,
                            std::chrono::milliseconds within) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Communicator> grown = comm.grow(growth).communicator;
  const double seconds = seconds_since(begin);
  std::string fault;
  if (seconds > std::chrono::duration<double>(growth.wait + within).count()) {
    fault += "it took " + std::to_string(seconds) + " s; ";
  }
  const std::vector<std::uint32_t> own{grown ? 1U : 0U};
  std::vector<std::uint32_t> all(comm.size());
  comm.all_gather(own, all);
  if (all != std::vector<std::uint32_t>(comm.size(), own[0])) fault += "not all have grown; ";
  if (grown) {
    try {
      while (true) grown->barrier();
    } catch (const Error& error) {
      const Verdict verdict = grown->verdict().value();
      if (verdict.ranks != std::vector{comm.size()}) fault += verdict.words + "; ";
    }
  }
  return fault + fault_of_total(comm, comm.size());
}

/// Ends with the process that forked it, even if it is stopped then.
class Newcomer : public ForkedChild {
 public:
  explicit Newcomer(const std::function<std::string()>& work)
      : ForkedChild([&, parent = getpid()] {
          end_with_parent(parent);
          return work();
        }) {}
};

class GrowthWithFaults : public ::testing::TestWithParam<Way> {};

TEST_P(GrowthWithFaults, NoticesANewcomerThatDiesWithItsTicket) {
  const std::string at = free_address();
  Newcomer newcomer([&] {
    (void)request_admission(Endpoint::parse(at), {}, Clock::now() + 20s);
    _exit(0);  // The connection of the invitation ends.
    return std::string();
  });
  const auto work = [&](Communicator& comm) {
    return fault_of_growth(comm, {.at = at, .most = 1, .wait = 3s}, 1s);
  };
  EXPECT_EQ(run_processes(3, GetParam(), work), "");
  EXPECT_EQ(newcomer.wait(), "");
}

/// Newcomers die at many points of the way into the group.
TEST_P(GrowthWithFaults, NoticesNewcomersThatDieWhileTheyJoin) {
  const std::string at = free_address();
  Newcomer newcomers([&]() -> std::string {
    for (int i = 0; true; ++i) {
      Newcomer newcomer([&] {
        await_listener(at);
        signal_self(SIGKILL, std::chrono::microseconds(i * 1700 % 30000));
        join_for_ever(at, GetParam());
        return std::string();
      });
      (void)newcomer.wait();
    }
  });
  const auto work = [&](Communicator& comm) {
    std::string fault;
    for (int round = 0; round < 25 && fault.empty(); ++round) {
      fault += fault_of_growth(comm, {.at = at, .most = 1, .wait = 1s}, 1s);
    }
    return fault;
  };
  EXPECT_EQ(run_processes(3, GetParam(), work), "");
  newcomers.kill();
}

/// It has asked for admission and is stopped before it is admitted.
TEST_P(GrowthWithFaults, DoesNotWaitForAStoppedNewcomer) {
  const std::string at = free_address();
  Newcomer newcomer([&] {
    await_listener(at);
    signal_self(SIGSTOP, 500ms);
    join_for_ever(at, GetParam());
    return std::string();
  });
  const auto work = [&](Communicator& comm) {
    return fault_of_growth(comm, {.at = at, .most = 2, .wait = 1500ms}, 1s);
  };
  EXPECT_EQ(run_processes(3, GetParam(), work), "");
}

/// A stopped newcomer keeps its connections. It has its ticket, so that the group waits for it.
TEST_P(GrowthWithFaults, NoticesANewcomerThatStopsWithItsTicket) {
  const std::string at = free_address();
  Newcomer newcomer([&] {
    const auto invitation = request_admission(Endpoint::parse(at), {}, Clock::now() + 20s);
    raise(SIGSTOP);
    return std::string();
  });
  const auto work = [&](Communicator& comm) {
    return fault_of_growth(comm, {.at = at, .most = 1, .wait = 10s, .timeout = 60s}, 20s);
  };
  EXPECT_EQ(run_processes(3, GetParam(), work), "");
  newcomer.kill();
}

/// Newcomers stop at many points of the way: a group waits for them as long as it was told.
TEST_P(GrowthWithFaults, WaitsForASilentNewcomerNoLongerThanTheTimeout) {
  const std::string at = free_address();
  Newcomer newcomers([&]() -> std::string {
    for (int i = 0; true; ++i) {
      Newcomer newcomer([&] {
        await_listener(at);
        signal_self(SIGSTOP, std::chrono::microseconds(i * 1900 % 20000));
        join_for_ever(at, GetParam());
        return std::string();
      });
      int status = 0;
      (void)waitpid(newcomer.pid(), &status, WUNTRACED);
      std::this_thread::sleep_for(3s);
    }
  });
  const auto work = [&](Communicator& comm) {
    std::string fault;
    for (int round = 0; round < 6 && fault.empty(); ++round) {
      fault += fault_of_growth(comm, {.at = at, .most = 1, .wait = 100ms, .timeout = 1s}, 1900ms);
      std::this_thread::sleep_for(std::chrono::milliseconds(comm.rank() == 0 ? 100 : 0));
    }
    return fault;
  };
  EXPECT_EQ(run_processes(3, GetParam(), work), "");
  newcomers.kill();
}

/// The newcomer dies or stops when its lifeline starts: the others know its address and wait for a
/// connection.
TEST_P(GrowthWithFaults, WaitsForNoConnectionOfALostNewcomer) {
  for (const bool dies : {true, false}) {
    const std::string at = free_address();
    Newcomer newcomer([&]() -> std::string {
      std::signal(SIGSYS, [](int) { raise(SIGSTOP); });
      const std::uint32_t action = dies ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_TRAP;
      if (!replace_call(SYS_eventfd2, action)) return "no filter";
      join_for_ever(at, GetParam());
    });
    const auto work = [&](Communicator& comm) {
      return fault_of_growth(comm, {.at = at, .most = 1, .wait = 1s, .timeout = dies ? 10s : 1s},
                             dies ? 1s : 2s);
    };
    EXPECT_EQ(run_processes(3, GetParam(), work), "") << (dies ? "dies" : "stops");
  }
}

INSTANTIATE_TEST_SUITE_P(Api, GrowthWithFaults, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "Memory" : "Tcp";
                         });

}  // namespace
}  // namespace tutti::test
