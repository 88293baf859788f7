#include "lifeline/mesh.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "lifeline/consensus.hpp"
#include "lifeline/mesh_support.hpp"
#include "support/errors.hpp"

/// Control connections between processes, one of which is lost.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// How member 1 ends.
struct Ending {
  int signal = 0;             ///< 0: it exits.
  bool leaves_child = false;  ///< A child lives on, and has inherited all its sockets.
};

/// Runs one process; returns its exit status: 0 if it learns of the loss of member 1 as it should.
int learn_of_loss(Listeners& listeners, std::uint32_t self, std::uint32_t members,
                  const Ending& ending) {
  const auto lifeline = std::make_shared<Lifeline>(self, std::vector<std::string>(members, "here"));
  lifeline->attach(listeners.mesh(self, *lifeline, 20s));
  std::vector<std::uint32_t> all;
  for (std::uint32_t member = 0; member < members; ++member) all.push_back(member);
  std::atomic<bool> alarm{false};
  Idle idle;
  Consensus consensus(lifeline, {.communicator = 1, .self = self, .members = all, .patience = 5s},
                      alarm, idle);
  (void)consensus.agree("started");
  if (self == 1) {
    if (ending.leaves_child && fork() == 0) {
      std::this_thread::sleep_for(10s);
      _exit(0);
    }
    if (ending.signal != 0) raise(ending.signal);
    _exit(0);
  }
  const auto begin = Clock::now();
  const Verdict verdict = consensus.await_verdict().verdict;
  if (verdict.code != ErrorCode::peer_lost) return 2;
  if (verdict.ranks != std::vector<std::uint32_t>{1}) return 3;
  if (Clock::now() - begin > 5s) return 4;
  const auto left = consensus.agree("go on");
  return left.size() == members - 1 && !left.contains(1) ? 0 : 5;
}

void lose_one(const std::string& address, const Ending& ending) {
  constexpr std::uint32_t members = 4;
  Listeners listeners(members, address);
  const SharedPids pids_of(members);
  std::vector<pid_t> pids;
  for (std::uint32_t self = 0; self < members; ++self) {
    const pid_t pid = fork();
    if (pid == 0) {
      if (ending.leaves_child) listeners.processes = pids_of.exchange(self);
      _exit(learn_of_loss(listeners, self, members, ending));
    }
    pids.push_back(pid);
  }
  for (std::uint32_t self = 0; self < members; ++self) {
    int status = 0;
    waitpid(pids[self], &status, 0);
    if (self == 1) continue;
    EXPECT_EQ(WEXITSTATUS(status), 0) << "member " << self;
  }
}

TEST(Mesh, NoticesAKilledMemberOverTcp) { lose_one("127.0.0.1:0", {.signal = SIGKILL}); }
TEST(Mesh, NoticesAMemberThatExitsOverTcp) { lose_one("127.0.0.1:0", {}); }
TEST(Mesh, NoticesAMemberWhoseChildLivesOn) {
  lose_one("127.0.0.1:0", {.signal = SIGKILL, .leaves_child = true});
}

TEST(Mesh, NamesMembersThatDoNotConnect) {
  Listeners listeners(2, "127.0.0.1:0");
  Lifeline lifeline(1, {"here", "here"});
  expect_error([&] { (void)listeners.mesh(1, lifeline, 200ms); }, ErrorCode::timed_out,
               "no control connection to rank 0");
}

/// Neither end waits until its deadline, though only one of them dials.
void expect_rejection(const Secret& one, const Secret& other, const std::string& cure) {
  Listeners listeners(2, "127.0.0.1:0");
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < 2; ++self) {
    threads.emplace_back([&, self] {
      Lifeline lifeline(self, {"here", "here"});
      const Secret& secret = self == 0 ? one : other;
      expect_error([&] { (void)listeners.mesh(self, lifeline, 20s, secret); }, ErrorCode::mismatch,
                   cure);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Mesh, NamesTheCureIfSecretsDiffer) {
  expect_rejection({.bytes = "s"}, {.bytes = "t"}, "give all ranks the same TUTTI_SECRET");
}

TEST(Mesh, NamesTheCureIfOnlyOneEndEncrypts) {
  const Secret plain{.bytes = "s"};
  expect_rejection(plain, plain.encrypting(), "set TUTTI_TLS=1 for all ranks");
  expect_rejection(plain.encrypting(), plain, "set TUTTI_TLS=1 for all ranks");
}

/// They connected first, send nothing and stay.
TEST(Mesh, IsNotDelayedByUnauthenticatedPeers) {
  Listeners listeners(2, "127.0.0.1:0");
  std::vector<Socket> idle_peers;
  for (int i = 0; i < 200; ++i) {
    idle_peers.push_back(begin_connect(listeners.contacts[1].endpoints.front()));
  }
  Lifeline first(0, {"here", "here"});
  Lifeline second(1, {"here", "here"});
  std::unique_ptr<Mesh> one;
  std::thread other([&] { one = listeners.mesh(1, second, 5s); });
  const std::unique_ptr<Mesh> zero = listeners.mesh(0, first, 5s);
  other.join();
  EXPECT_TRUE(one);
}

}  // namespace
}  // namespace tutti::test
