#include "lifeline/consensus.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "lifeline/fake_participant.hpp"
#include "lifeline/thread_hub.hpp"
#include "support/errors.hpp"

/// Ranks that are threads of this process agree on verdicts and members.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Drops all messages.
class DeadEnd final : public ControlTransport {
 public:
  void send(std::uint32_t /*to*/, std::string /*message*/, Delivery /*delivery*/) override {}
  void request_ticks() override {}
};

/// Ranks of one communicator, each with a lifeline and a handle.
class Ranks {
 public:
  explicit Ranks(std::uint32_t count, std::chrono::milliseconds patience = 2000ms) {
    const auto hub = std::make_shared<ThreadHub>(count);
    for (std::uint32_t r = 0; r < count; ++r) members_.push_back(r);
    for (std::uint32_t r = 0; r < count; ++r) {
      all_.push_back(std::make_unique<One>());
      One& one = *all_.back();
      one.lifeline = std::make_shared<Lifeline>(r, std::vector<std::string>(count, "here"));
      one.lifeline->attach(hub->connect(r, *one.lifeline));
      one.consensus = std::make_unique<Consensus>(
          one.lifeline,
          Consensus::Config{
              .communicator = 5, .self = r, .members = members_, .patience = patience},
          one.alarm, one.participant);
    }
  }

  [[nodiscard]] Consensus& operator[](std::uint32_t rank) { return *all_[rank]->consensus; }
  [[nodiscard]] FakeParticipant& participant(std::uint32_t rank) { return all_[rank]->participant; }
  void close(std::uint32_t rank) { all_[rank]->consensus.reset(); }
  /// From now on the rank receives and sends nothing, though it is not gone.
  void stop(std::uint32_t rank) { all_[rank]->lifeline->attach(std::make_unique<DeadEnd>()); }
  /// Opens another communicator of the same ranks on this rank.
  void open_second(std::uint32_t rank, std::uint64_t id) {
    One& one = *all_[rank];
    one.second = std::make_unique<Consensus>(
        one.lifeline,
        Consensus::Config{
            .communicator = id, .self = rank, .members = members_, .patience = 2000ms},
        one.alarm, one.participant);
  }
  [[nodiscard]] Consensus& second(std::uint32_t rank) { return *all_[rank]->second; }

  /// Calls f(rank) for all of these ranks, each in a thread.
  void at_once(const std::vector<std::uint32_t>& ranks,
               const std::function<void(std::uint32_t)>& f) {
    std::vector<std::thread> threads;
    for (const std::uint32_t rank : ranks) threads.emplace_back([&f, rank] { f(rank); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  struct One {
    std::atomic<bool> alarm{false};
    FakeParticipant participant{};
    std::shared_ptr<Lifeline> lifeline{};
    std::unique_ptr<Consensus> consensus{};
    std::unique_ptr<Consensus> second{};
  };
  std::vector<std::uint32_t> members_;
  std::vector<std::unique_ptr<One>> all_;
};

TEST(Consensus, OneReportIsTheVerdictOfAllRanks) {
  Ranks ranks(4);
  ranks[2].report({.code = ErrorCode::aborted, .ranks = {2}, .words = "enough"});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ranks[rank].await_verdict().verdict,
              (Verdict{.code = ErrorCode::aborted, .ranks = {2}, .words = "enough"}));
    EXPECT_TRUE(ranks.participant(rank).was_stopped);
  }
}

TEST(Consensus, ShortensLongReports) {
  Ranks ranks(2);
  ranks[1].report({.code = ErrorCode::aborted, .ranks = {1}, .words = std::string(100'000, 'x')});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_LT(ranks[rank].await_verdict().verdict.words.size(), 5000U);
  }
}

TEST(Consensus, ConcurrentReportsGiveOneVerdict) {
  for (int round = 0; round < 50; ++round) {
    Ranks ranks(5);
    std::vector<Verdict> verdicts(5);
    ranks.at_once({0, 1, 2, 3, 4}, [&](std::uint32_t rank) {
      ranks[rank].report({.code = rank % 2 == 0 ? ErrorCode::timed_out : ErrorCode::aborted,
                          .ranks = {rank},
                          .call = 1,
                          .words = "by " + std::to_string(rank)});
      verdicts[rank] = ranks[rank].await_verdict().verdict;
    });
    for (const Verdict& verdict : verdicts) ASSERT_EQ(verdict, verdicts[0]);
  }
}

TEST(Consensus, ComparesCalls) {
  Ranks ranks(3);
  ranks.participant(1).signature = 8;
  ranks[0].compare(1);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const Verdict verdict = ranks[rank].await_verdict().verdict;
    EXPECT_EQ(verdict.code, ErrorCode::mismatch);
    EXPECT_EQ(verdict.ranks, std::vector<std::uint32_t>{1});
    EXPECT_NE(verdict.words.find("call 1 of kind 8"), std::string::npos) << verdict.words;
  }
}

TEST(Consensus, AgreesWithoutRanksThatLeft) {
  Ranks ranks(4);
  ranks.close(0);
  std::vector<std::map<std::uint32_t, std::string>> inputs(4);
  ranks.at_once({1, 2, 3}, [&](std::uint32_t rank) {
    inputs[rank] = ranks[rank].agree("input of " + std::to_string(rank));
  });
  const std::map<std::uint32_t, std::string> all{
      {1, "input of 1"}, {2, "input of 2"}, {3, "input of 3"}};
  for (const std::uint32_t rank : {1, 2, 3}) EXPECT_EQ(inputs[rank], all);
}

TEST(Consensus, DoesNotWaitForeverForARankThatDoesNotAsk) {
  Ranks ranks(3, 100ms);
  std::vector<std::map<std::uint32_t, std::string>> inputs(3);
  ranks.at_once({0, 1}, [&](std::uint32_t rank) { inputs[rank] = ranks[rank].agree("x"); });
  EXPECT_EQ(inputs[0], (std::map<std::uint32_t, std::string>{{0, "x"}, {1, "x"}}));
  EXPECT_EQ(inputs[1], inputs[0]);
}

TEST(Consensus, VerdictCountsCallsDoneByAllRanks) {
  Ranks ranks(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.participant(rank).done = 7;
  ranks.participant(2).done = 6;
  ranks[1].report({.code = ErrorCode::aborted, .ranks = {1}, .words = "enough"});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ranks[rank].await_verdict().completed, 6U);
  }
}

TEST(Consensus, VerdictDoesNotCountARankThatLeft) {
  Ranks ranks(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.participant(rank).done = 7;
  ranks.participant(2).done = 6;
  ranks[2].leave(3);
  ranks[1].report({.code = ErrorCode::aborted, .ranks = {1}, .words = "enough"});
  for (const std::uint32_t rank : {0, 1, 3}) EXPECT_EQ(ranks[rank].await_verdict().completed, 7U);
}

TEST(Consensus, NamesStoppedRanksWithinASecond) {
  Ranks ranks(5);
  ranks.stop(0);
  ranks.stop(3);
  const auto begin = std::chrono::steady_clock::now();
  ranks[2].report({.code = ErrorCode::timed_out, .ranks = {0}, .call = 1, .words = "late"});
  const std::vector<std::uint32_t> stopped{0, 3};
  for (const std::uint32_t rank : {1, 2, 4}) {
    const AgreedVerdict agreed = ranks[rank].await_verdict();
    EXPECT_EQ(agreed.verdict.code, ErrorCode::timed_out);
    EXPECT_EQ(agreed.verdict.ranks, stopped);
    EXPECT_EQ(agreed.unresponsive, stopped);
    // So ranks do not wait until a stopped rank has stopped reading their memory.
    for (std::uint32_t other = 0; other < 5; ++other) {
      EXPECT_EQ(ranks[rank].is_gone(other), other == 0 || other == 3);
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
}

/// A rank may fail to make a communicator that others have made.
TEST(Consensus, DoesNotWaitForARankThatDeclined) {
  Ranks ranks(3);
  ranks.open_second(1, 77);
  ranks.open_second(2, 77);
  const auto begin = std::chrono::steady_clock::now();
  ranks[0].decline(77, std::vector<std::uint32_t>{0, 1, 2});
  ranks.second(2).report({.code = ErrorCode::aborted, .ranks = {2}, .words = "enough"});
  for (const std::uint32_t rank : {1, 2}) {
    EXPECT_EQ(ranks.second(rank).await_verdict().verdict.words, "enough");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
}

TEST(Consensus, ExchangesContributions) {
  Ranks ranks(4);
  const std::vector<std::uint32_t> some{1, 3, 2};
  ranks.at_once(some, [&](std::uint32_t rank) {
    const auto all_of_them = ranks[rank].exchange(some, 7, "from " + std::to_string(rank));
    EXPECT_EQ(all_of_them, (std::vector<std::string>{"from 1", "from 3", "from 2"}));
  });
}

TEST(Consensus, ContributionsMayHoldAnyBytes) {
  Ranks ranks(2);
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::vector<std::uint32_t> all{0, 1};
  ranks.at_once(all, [&](std::uint32_t rank) {
    const auto all_of_them = ranks[rank].exchange(all, 3, every_byte + std::to_string(rank));
    EXPECT_EQ(all_of_them, (std::vector<std::string>{every_byte + "0", every_byte + "1"}));
  });
}

TEST(Consensus, ExchangeEndsWhenARankLeaves) {
  Ranks ranks(3);
  std::thread leaver([&] {
    std::this_thread::sleep_for(20ms);
    ranks.close(2);
  });
  const std::vector<std::uint32_t> all{0, 1, 2};
  ranks.at_once({0, 1}, [&](std::uint32_t rank) {
    expect_error([&] { (void)ranks[rank].exchange(all, 1, "mine"); }, ErrorCode::peer_lost,
                 "another rank was lost");
  });
  leaver.join();
}

}  // namespace
}  // namespace tutti::test
