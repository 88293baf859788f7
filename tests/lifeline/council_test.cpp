#include "lifeline/council.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "lifeline/thread_hub.hpp"
#include "support/errors.hpp"

/// Ranks that are threads of this process speak about their communicator.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// A rank that does nothing but tell what it was told to.
class Quiet final : public Participant {
 public:
  [[nodiscard]] RankStatus status(std::uint64_t about) const override {
    RankStatus told{.call = 1, .words = "call 1"};
    if (about == 1) {
      told.about = about;
      told.signature = signature;
      told.asked = "call 1 of kind " + std::to_string(signature);
    }
    return told;
  }
  std::uint64_t seal() override { return done; }
  void stop() override { was_stopped = true; }

  std::uint32_t signature = 0;
  std::uint64_t done = 0;
  std::atomic<bool> was_stopped{false};
};

/// Takes letters, and carries them nowhere.
class DeadEnd final : public ControlTransport {
 public:
  void send(std::uint32_t /*to*/, std::string /*letter*/) override {}
  void hurry() override {}
};

/// As many ranks as one likes, each with its line and council.
class Ranks {
 public:
  explicit Ranks(std::uint32_t count, std::chrono::milliseconds patience = 2000ms) {
    const auto hub = std::make_shared<ThreadHub>(count);
    std::vector<std::uint32_t> members;
    for (std::uint32_t r = 0; r < count; ++r) members.push_back(r);
    for (std::uint32_t r = 0; r < count; ++r) {
      all_.push_back(std::make_unique<One>());
      One& one = *all_.back();
      one.lifeline = std::make_shared<Lifeline>(r, std::vector<std::string>(count, "here"));
      one.lifeline->attach(hub->post(r, *one.lifeline));
      one.council = std::make_unique<Council>(
          one.lifeline, Council::Seat{.id = 5, .self = r, .members = members, .patience = patience},
          one.alarm, one.participant);
    }
  }

  [[nodiscard]] Council& operator[](std::uint32_t rank) { return *all_[rank]->council; }
  [[nodiscard]] Quiet& participant(std::uint32_t rank) { return all_[rank]->participant; }
  void close(std::uint32_t rank) { all_[rank]->council.reset(); }
  /// From now on it hears nothing and says nothing, though it is not gone.
  void stop(std::uint32_t rank) { all_[rank]->lifeline->attach(std::make_unique<DeadEnd>()); }
  /// Another communicator of the same ranks, on this one.
  void open_second(std::uint32_t rank, std::uint64_t id) {
    One& one = *all_[rank];
    one.second = std::make_unique<Council>(
        one.lifeline,
        Council::Seat{
            .id = id, .self = rank, .members = one.council->members(), .patience = 2000ms},
        one.alarm, one.participant);
  }
  [[nodiscard]] Council& second(std::uint32_t rank) { return *all_[rank]->second; }

  /// Calls f(rank) for all of these at once.
  void at_once(const std::vector<std::uint32_t>& ranks,
               const std::function<void(std::uint32_t)>& f) {
    std::vector<std::thread> threads;
    for (const std::uint32_t rank : ranks) threads.emplace_back([&f, rank] { f(rank); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  struct One {
    std::atomic<bool> alarm{false};
    Quiet participant{};
    std::shared_ptr<Lifeline> lifeline{};
    std::unique_ptr<Council> council{};
    std::unique_ptr<Council> second{};
  };
  std::vector<std::unique_ptr<One>> all_;
};

TEST(Council, OneReportIsEverybodysVerdict) {
  Ranks ranks(4);
  ranks[2].report({.code = ErrorCode::aborted, .ranks = {2}, .words = "enough"});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ranks[rank].await_verdict().verdict,
              (Verdict{.code = ErrorCode::aborted, .ranks = {2}, .words = "enough"}));
    EXPECT_TRUE(ranks.participant(rank).was_stopped);
  }
}

TEST(Council, LongWordsAreCut) {
  Ranks ranks(2);
  ranks[1].report({.code = ErrorCode::aborted, .ranks = {1}, .words = std::string(100'000, 'x')});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_LT(ranks[rank].await_verdict().verdict.words.size(), 5000U);
  }
}

TEST(Council, ManyReportsAtOnceGiveOneVerdict) {
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

TEST(Council, ComparesCalls) {
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

TEST(Council, AgreesWithoutThoseWhoHaveLeft) {
  Ranks ranks(4);
  ranks.close(0);
  std::vector<std::map<std::uint32_t, std::string>> heard(4);
  ranks.at_once({1, 2, 3}, [&](std::uint32_t rank) {
    heard[rank] = ranks[rank].agree("said by " + std::to_string(rank));
  });
  const std::map<std::uint32_t, std::string> all{
      {1, "said by 1"}, {2, "said by 2"}, {3, "said by 3"}};
  for (const std::uint32_t rank : {1, 2, 3}) EXPECT_EQ(heard[rank], all);
}

TEST(Council, DoesNotWaitForEverForWhoDoesNotAsk) {
  Ranks ranks(3, 100ms);
  std::vector<std::map<std::uint32_t, std::string>> heard(3);
  ranks.at_once({0, 1}, [&](std::uint32_t rank) { heard[rank] = ranks[rank].agree("x"); });
  EXPECT_EQ(heard[0], (std::map<std::uint32_t, std::string>{{0, "x"}, {1, "x"}}));
  EXPECT_EQ(heard[1], heard[0]);
}

TEST(Council, RulingHasTheCallsThatAllRanksHaveDone) {
  Ranks ranks(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.participant(rank).done = 7;
  ranks.participant(2).done = 6;
  ranks[1].report({.code = ErrorCode::aborted, .ranks = {1}, .words = "enough"});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ranks[rank].await_verdict().completed, 6U);
  }
}

TEST(Council, RulingDoesNotCountARankThatLeft) {
  Ranks ranks(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.participant(rank).done = 7;
  ranks.participant(2).done = 6;
  ranks[2].leave(3);
  ranks[1].report({.code = ErrorCode::aborted, .ranks = {1}, .words = "enough"});
  for (const std::uint32_t rank : {0, 1, 3}) EXPECT_EQ(ranks[rank].await_verdict().completed, 7U);
}

TEST(Council, NamesStoppedRanksWithinASecond) {
  Ranks ranks(5);
  ranks.stop(0);
  ranks.stop(3);
  const auto begin = std::chrono::steady_clock::now();
  ranks[2].report({.code = ErrorCode::timed_out, .ranks = {0}, .call = 1, .words = "in vain"});
  const std::vector<std::uint32_t> stopped{0, 3};
  for (const std::uint32_t rank : {1, 2, 4}) {
    const AgreedVerdict ruling = ranks[rank].await_verdict();
    EXPECT_EQ(ruling.verdict.code, ErrorCode::timed_out);
    EXPECT_EQ(ruling.verdict.ranks, stopped);
    EXPECT_EQ(ruling.unresponsive, stopped);
    // Ranks do not wait until a stopped one no longer reads their memory.
    for (std::uint32_t other = 0; other < 5; ++other) {
      EXPECT_EQ(ranks[rank].is_gone(other), other == 0 || other == 3);
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
}

/// It may have failed to make the communicator that others have.
TEST(Council, DoesNotWaitForARankThatDeclined) {
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

TEST(Council, ExchangesCards) {
  Ranks ranks(4);
  const std::vector<std::uint32_t> some{1, 3, 2};
  ranks.at_once(some, [&](std::uint32_t rank) {
    const auto cards = ranks[rank].exchange(some, 7, "card " + std::to_string(rank));
    EXPECT_EQ(cards, (std::vector<std::string>{"card 1", "card 3", "card 2"}));
  });
}

TEST(Council, CardsMayHoldAnyBytes) {
  Ranks ranks(2);
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::vector<std::uint32_t> all{0, 1};
  ranks.at_once(all, [&](std::uint32_t rank) {
    const auto cards = ranks[rank].exchange(all, 3, every_byte + std::to_string(rank));
    EXPECT_EQ(cards, (std::vector<std::string>{every_byte + "0", every_byte + "1"}));
  });
}

TEST(Council, AnExchangeEndsWhenSomebodyLeaves) {
  Ranks ranks(3);
  std::thread leaver([&] {
    std::this_thread::sleep_for(20ms);
    ranks.close(2);
  });
  const std::vector<std::uint32_t> all{0, 1, 2};
  ranks.at_once({0, 1}, [&](std::uint32_t rank) {
    expect_error([&] { (void)ranks[rank].exchange(all, 1, "card"); }, ErrorCode::peer_lost,
                 "another rank was lost");
  });
  leaver.join();
}

}  // namespace
}  // namespace tutti::test
