#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "rendezvous/thread_exchange.hpp"
#include "support/forked_child.hpp"
#include "support/processes.hpp"

/// An exchange of the caller's that does not return one text for each rank.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t ranks = 3;

/// Passes on all answers but that of one round.
class WrongExchange final : public Exchange {
 public:
  WrongExchange(Exchange& right, std::uint32_t round, std::size_t texts)
      : right_(right), wrong_round_(round), texts_(texts) {}

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    std::vector<std::string> answer = right_.all_gather(text);
    if (++round_ == wrong_round_) answer.resize(texts_, text);
    return answer;
  }

  [[nodiscard]] std::uint32_t rounds() const { return round_; }

 private:
  Exchange& right_;
  std::uint32_t wrong_round_;
  std::size_t texts_;
  std::uint32_t round_ = 0;
};

/// Makes groups over the exchange, each with a wrong answer in another round, until the rounds of a
/// group are all done. Returns the first error that is not the right one.
std::string fault_of_rounds(Exchange& right, std::uint32_t rank, const std::string& transport) {
  const CommunicatorOptions options{.transport = transport};
  std::uint32_t rounds = 0;
  {
    WrongExchange counted(right, 0, 0);
    Communicator comm = Communicator::create(counted, rank, ranks, options);
    comm.barrier();
    rounds = counted.rounds();
  }
  if (rounds < 4) return "only " + std::to_string(rounds) + " rounds";
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    for (const std::size_t texts : {ranks - 1, ranks + 1, 0U}) {
      const std::string expected = "the exchange that Communicator::create() was given returned " +
                                   std::to_string(texts) + " texts in round " +
                                   std::to_string(round) + ", not " + std::to_string(ranks);
      WrongExchange wrong(right, round, texts);
      try {
        (void)Communicator::create(wrong, rank, ranks, options);
        return "no error for " + expected;
      } catch (const Error& error) {
        const std::string words = error.what();
        if (error.code() != ErrorCode::invalid_argument || !words.starts_with("rank ") ||
            words.find(expected) == std::string::npos) {
          return words + " in place of " + expected;
        }
      }
    }
  }
  return "";
}

class CountOfTexts : public ::testing::TestWithParam<const char*> {};

TEST_P(CountOfTexts, IsCheckedInEachRoundAmongProcesses) {
  Meeting meeting;
  std::vector<std::unique_ptr<ForkedChild>> children;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    children.push_back(std::make_unique<ForkedChild>([&, rank] {
      const std::unique_ptr<Exchange> exchange = meeting.exchange(rank, ranks);
      return fault_of_rounds(*exchange, rank, GetParam());
    }));
  }
  for (const auto& child : children) EXPECT_EQ(child->wait(), "");
}

TEST_P(CountOfTexts, IsCheckedInEachRoundAmongThreads) {
  ThreadGather gather(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadExchange exchange(gather, rank, Clock::now() + 20s);
      EXPECT_EQ(fault_of_rounds(exchange, rank, GetParam()), "");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Create, CountOfTexts, ::testing::Values("shm", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace tutti::test
