#include <signal.h>
#include <sys/wait.h>

#include <functional>

#include <gtest/gtest.h>

#include "lifeline/consensus.hpp"
#include "lifeline/fake_participant.hpp"
#include "lifeline/mesh_support.hpp"
#include "support/eventually.hpp"

/// Groups in which a member is connected to its neighbours only, until it needs another one.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t members = 20;
/// Not neighbours of member 0, nor of each other.
constexpr std::uint32_t far = 10;
constexpr std::uint32_t farther = 7;

std::vector<std::uint32_t> everyone() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t member = 0; member < members; ++member) all.push_back(member);
  return all;
}

/// All members in one process, each with one communicator of all.
class SparseMesh : public testing::Test {
 protected:
  struct One {
    std::shared_ptr<Lifeline> lifeline{};
    Mesh* mesh = nullptr;
    std::atomic<bool> alarm{false};
    FakeParticipant participant{};
    std::unique_ptr<Consensus> consensus{};
  };

  SparseMesh() : listeners_(members, "") {
    for (std::uint32_t self = 0; self < members; ++self) all_.push_back(std::make_unique<One>());
    std::vector<std::thread> threads;
    for (std::uint32_t self = 0; self < members; ++self) {
      threads.emplace_back([this, self] {
        One& one = *all_[self];
        one.lifeline = std::make_shared<Lifeline>(self, std::vector<std::string>(members, "here"));
        auto mesh = listeners_.mesh(self, *one.lifeline, 20s);
        one.mesh = mesh.get();
        one.lifeline->attach(std::move(mesh));
        one.consensus = std::make_unique<Consensus>(
            one.lifeline,
            Consensus::Config{
                .communicator = 1, .self = self, .members = everyone(), .patience = 5s},
            one.alarm, one.participant);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  [[nodiscard]] std::size_t connections(std::uint32_t member) {
    return all_[member]->mesh->connections();
  }

  void depart(std::uint32_t member) {
    all_[member]->consensus.reset();
    all_[member]->lifeline.reset();
  }

  Listeners listeners_;
  std::vector<std::unique_ptr<One>> all_{};
};

TEST_F(SparseMesh, ConnectsNeighboursOnly) {
  for (std::uint32_t member = 0; member < members; ++member) {
    EXPECT_EQ(connections(member), neighbours_of(member, members).size()) << member;
  }
}

TEST_F(SparseMesh, LeavingConnectsNobody) {
  const std::size_t before = connections(far);
  all_[0]->consensus->leave(3);
  for (const std::uint32_t member : neighbours_of(0, members)) {
    EXPECT_TRUE(eventually([&] { return all_[member]->consensus->left().contains(0); })) << member;
  }
  EXPECT_EQ(connections(far), before);
  EXPECT_FALSE(all_[far]->consensus->left().contains(0));
}

TEST_F(SparseMesh, ARankThatWaitsConnectsAndLearnsWhoHasLeft) {
  const std::size_t before = connections(far);
  const std::vector<std::uint32_t> awaited{0};
  all_[far]->consensus->inquire(awaited);
  EXPECT_TRUE(eventually([&] { return connections(far) == before + 1; }));
  all_[0]->consensus->leave(3);
  EXPECT_TRUE(eventually([&] { return all_[far]->consensus->left().contains(0); }));
  all_[farther]->consensus->inquire(awaited);
  EXPECT_TRUE(eventually([&] { return all_[farther]->consensus->left().contains(0); }));
}

/// Both ends of every pair may dial at the same time.
TEST_F(SparseMesh, AllMembersAgree) {
  std::vector<std::thread> threads;
  std::atomic<std::uint32_t> agreed{0};
  for (std::uint32_t self = 0; self < members; ++self) {
    threads.emplace_back([&, self] {
      for (int round = 0; round < 3; ++round) {
        const auto inputs = all_[self]->consensus->agree(std::to_string(self));
        if (inputs.size() == members) ++agreed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(agreed, 3 * members);
}

TEST_F(SparseMesh, AMemberThatDepartsIsLostToNoOther) {
  all_[0]->consensus->leave(3, {{far, 7}});
  depart(0);
  for (const std::uint32_t member : neighbours_of(0, members)) {
    EXPECT_TRUE(eventually([&] { return all_[member]->lifeline->is_lost(0); }));
    EXPECT_FALSE(all_[member]->consensus->verdict());
  }
  EXPECT_FALSE(all_[far]->lifeline->is_lost(0));
  for (const std::uint32_t member : {far, farther}) {
    EXPECT_TRUE(eventually([&] { return all_[member]->consensus->left().contains(0); }));
    EXPECT_EQ(all_[member]->consensus->left().at(0), 3U);
    EXPECT_EQ(all_[member]->consensus->messages_of_leaver(0), member == far ? 7U : 0U);
  }
}

TEST_F(SparseMesh, MembersThatDepartDoNotCutOthersOff) {
  for (const std::uint32_t member : neighbours_of(far, members)) depart(member);
  depart(0);
  EXPECT_TRUE(eventually([&] { return all_[far]->consensus->left().contains(0); }));
  EXPECT_FALSE(all_[far]->consensus->verdict());
}

TEST_F(SparseMesh, AllMayDepartAtOnce) {
  std::vector<std::thread> threads;
  for (std::uint32_t member = 0; member < members; ++member) {
    if (member != far) threads.emplace_back([this, member] { depart(member); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return all_[far]->consensus->left().size() == members - 1; }));
  EXPECT_FALSE(all_[far]->consensus->verdict());
}

/// The word that the proposer departs must not overtake its decision.
TEST_F(SparseMesh, AllMayDepartAsSoonAsTheyAgree) {
  std::vector<std::thread> threads;
  std::atomic<std::uint32_t> agreed{0};
  for (std::uint32_t self = 0; self < members; ++self) {
    threads.emplace_back([&, self] {
      if (all_[self]->consensus->agree(std::to_string(self)).size() == members) ++agreed;
      depart(self);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(agreed, members);
}

/// One process. Returns 0 if it learns of the loss of `far`, which is killed.
int learn_of_loss(Listeners& listeners, std::uint32_t self) {
  const auto lifeline = std::make_shared<Lifeline>(self, std::vector<std::string>(members, "here"));
  lifeline->attach(listeners.mesh(self, *lifeline, 20s));
  std::atomic<bool> alarm{false};
  FakeParticipant participant;
  Consensus consensus(lifeline,
                      {.communicator = 1, .self = self, .members = everyone(), .patience = 5s},
                      alarm, participant);
  std::unique_ptr<Consensus> pair;
  if (self == farther || self == far) {
    pair = std::make_unique<Consensus>(lifeline,
                                       Consensus::Config{.communicator = 2,
                                                         .self = self == farther ? 0U : 1U,
                                                         .members = {farther, far},
                                                         .patience = 5s},
                                       alarm, participant);
  }
  if (consensus.agree("started").size() != members) return 2;
  if (self == far) raise(SIGKILL);
  const Verdict verdict = consensus.await_verdict().verdict;
  if (verdict.code != ErrorCode::peer_lost) return 3;
  if (verdict.ranks != std::vector<std::uint32_t>{far}) return 4;
  if (pair && pair->await_verdict().verdict.ranks != std::vector<std::uint32_t>{1}) return 5;
  return consensus.agree("go on").size() == members - 1 ? 0 : 6;
}

void lose_one(const std::string& address) {
  Listeners listeners(members, address);
  std::vector<pid_t> pids;
  for (std::uint32_t self = 0; self < members; ++self) {
    const pid_t pid = fork();
    if (pid == 0) {
      listeners.keep_only(self);
      _exit(learn_of_loss(listeners, self));
    }
    pids.push_back(pid);
  }
  listeners.keep_only(members);
  for (std::uint32_t self = 0; self < members; ++self) {
    int status = 0;
    waitpid(pids[self], &status, 0);
    EXPECT_EQ(status, self == far ? SIGKILL : 0) << "member " << self;
  }
}

TEST(SparseMeshOfProcesses, AllLearnOfAKilledMember) { lose_one(""); }
TEST(SparseMeshOfProcesses, AllLearnOfAKilledMemberOverTcp) { lose_one("127.0.0.1:0"); }

}  // namespace
}  // namespace tutti::test
