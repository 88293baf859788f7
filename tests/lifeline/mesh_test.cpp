#include "lifeline/mesh.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "lifeline/council.hpp"
#include "support/errors.hpp"

/// Lines between processes, one of which is lost.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

class Idle final : public Participant {
 public:
  [[nodiscard]] RankStatus status(std::uint64_t /*about*/) const override { return {}; }
  std::uint64_t seal() override { return 0; }
  void stop() override {}
};

/// Where processes that are to be forked listen.
struct Doors {
  Doors(std::uint32_t members, const std::string& address) {
    for (std::uint32_t member = 0; member < members; ++member) {
      listeners.push_back(listen_on(Endpoint::parse(address), {}));
      contacts.push_back({.host = "here", .endpoints = {bound_to(listeners.back())}});
    }
  }

  [[nodiscard]] std::unique_ptr<Mesh> mesh(std::uint32_t self, Lifeline& lifeline,
                                           Clock::duration patience) {
    return std::make_unique<Mesh>(Mesh::Place{.self = self,
                                              .contacts = contacts,
                                              .listener = std::move(listeners[self]),
                                              .secret = {.bytes = "s"},
                                              .group = "test",
                                              .processes = processes},
                                  lifeline, Clock::now() + patience);
  }

  std::vector<Socket> listeners{};
  std::vector<Contact> contacts{};
  std::vector<int> processes{};
};

/// Where processes that were forked let each other know which they are.
class Roll {
 public:
  explicit Roll(std::uint32_t members)
      : members_(members),
        pids_(static_cast<std::atomic<int>*>(
            mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Roll() { munmap(pids_, size()); }
  Roll(const Roll&) = delete;
  Roll& operator=(const Roll&) = delete;

  [[nodiscard]] std::vector<int> call(std::uint32_t self) const {
    pids_[self] = getpid();
    std::vector<int> pids;
    for (std::uint32_t member = 0; member < members_; ++member) {
      while (pids_[member] == 0) std::this_thread::sleep_for(1ms);
      pids.push_back(pids_[member]);
    }
    return pids;
  }

 private:
  [[nodiscard]] std::size_t size() const { return members_ * sizeof(std::atomic<int>); }

  std::uint32_t members_;
  std::atomic<int>* pids_;
};

/// How member 1 comes to its end.
struct Grief {
  int signal = 0;             ///< Or none.
  bool leaves_child = false;  ///< A child of it lives on, and has all of its sockets.
};

/// The exit status of a process that hears of the loss of member 1, as it should: 0.
int hear_of_loss(Doors& doors, std::uint32_t self, std::uint32_t members, const Grief& grief) {
  const auto lifeline = std::make_shared<Lifeline>(self, std::vector<std::string>(members, "here"));
  lifeline->attach(doors.mesh(self, *lifeline, 20s));
  std::vector<std::uint32_t> all;
  for (std::uint32_t member = 0; member < members; ++member) all.push_back(member);
  std::atomic<bool> alarm{false};
  Idle idle;
  Council council(lifeline, {.id = 1, .self = self, .members = all, .patience = 5s}, alarm, idle);
  (void)council.agree("all are here");
  if (self == 1) {
    if (grief.leaves_child && fork() == 0) {
      std::this_thread::sleep_for(10s);
      _exit(0);
    }
    if (grief.signal != 0) raise(grief.signal);
    _exit(0);
  }
  const auto begin = Clock::now();
  const Verdict verdict = council.await_verdict().verdict;
  if (verdict.code != ErrorCode::peer_lost) return 2;
  if (verdict.ranks != std::vector<std::uint32_t>{1}) return 3;
  if (Clock::now() - begin > 5s) return 4;
  const auto left = council.agree("go on");
  return left.size() == members - 1 && !left.contains(1) ? 0 : 5;
}

void lose_one(const std::string& address, const Grief& grief) {
  constexpr std::uint32_t members = 4;
  Doors doors(members, address);
  const Roll roll(members);
  std::vector<pid_t> pids;
  for (std::uint32_t self = 0; self < members; ++self) {
    const pid_t pid = fork();
    if (pid == 0) {
      if (grief.leaves_child) doors.processes = roll.call(self);
      _exit(hear_of_loss(doors, self, members, grief));
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

TEST(Mesh, AKilledMemberIsNoticedOverTcp) { lose_one("127.0.0.1:0", {.signal = SIGKILL}); }
TEST(Mesh, AMemberThatEndsIsNoticedOverTcp) { lose_one("127.0.0.1:0", {}); }
TEST(Mesh, AMemberWhoseChildLivesOnIsNoticed) {
  lose_one("127.0.0.1:0", {.signal = SIGKILL, .leaves_child = true});
}

TEST(Mesh, NamesWhoDoesNotCome) {
  Doors doors(2, "127.0.0.1:0");
  Lifeline lifeline(1, {"here", "here"});
  expect_error([&] { (void)doors.mesh(1, lifeline, 200ms); }, ErrorCode::timed_out,
               "no line to rank 0");
}

/// They came first, say nothing and stay.
TEST(Mesh, IsNotKeptWaitingByStrangers) {
  Doors doors(2, "127.0.0.1:0");
  std::vector<Socket> strangers;
  for (int i = 0; i < 200; ++i) {
    strangers.push_back(begin_connect(doors.contacts[1].endpoints.front()));
  }
  Lifeline first(0, {"here", "here"});
  Lifeline second(1, {"here", "here"});
  std::unique_ptr<Mesh> one;
  std::thread other([&] { one = doors.mesh(1, second, 5s); });
  const std::unique_ptr<Mesh> zero = doors.mesh(0, first, 5s);
  other.join();
  EXPECT_TRUE(one);
}

}  // namespace
}  // namespace tutti::test
