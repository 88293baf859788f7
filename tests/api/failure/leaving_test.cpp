#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>
#include <tutti/exchange.hpp>

#include "support/forked_child.hpp"
#include "support/sanitizer.hpp"

/// A rank that is done and leaves in order is not taken for dead, and only calls fail that need
/// something from it.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// An exchange of forked processes, through memory that they share. Ranks above 0 may return late
/// from each round: then rank 0 is done before they have made the communicator.
class ProcessExchange final : public Exchange {
 public:
  struct Board {
    static constexpr std::size_t most_rounds = 32;
    static constexpr std::size_t most_ranks = 8;
    static constexpr std::size_t most_bytes = 4096;
    struct Text {
      std::atomic<std::size_t> length;  // Plus one; 0: not there yet.
      char bytes[most_bytes];
    };
    Text texts[most_rounds][most_ranks];
    std::atomic<bool> is_slow_call_next;
    std::atomic<bool> is_slow_rank_asleep;
  };
  /// Before the first fork.
  [[nodiscard]] static std::shared_ptr<Board> board() {
    void* const memory =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return {static_cast<Board*>(memory), [](Board* each) { munmap(each, sizeof(Board)); }};
  }

  ProcessExchange(Board& board, std::uint32_t rank, std::uint32_t ranks,
                  std::chrono::milliseconds lateness)
      : board_(board), rank_(rank), ranks_(ranks), lateness_(lateness) {}

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    Board::Text* const round = board_.texts[round_++];
    std::memcpy(round[rank_].bytes, text.data(), text.size());
    round[rank_].length = text.size() + 1;
    std::vector<std::string> texts;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      while (round[rank].length == 0) std::this_thread::sleep_for(100us);
      texts.emplace_back(round[rank].bytes, round[rank].length - 1);
    }
    if (rank_ > 0) std::this_thread::sleep_for(lateness_);
    return texts;
  }

 private:
  Board& board_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::chrono::milliseconds lateness_;
  std::size_t round_ = 0;
};

/// What is wrong if `f` does not throw this code with this text.
std::string error_of(const std::function<void()>& f, ErrorCode code, const std::string& part) {
  try {
    f();
    return "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    if (error.code() == code && text.find(part) != std::string::npos) return "";
    return "another error: " + text;
  }
}

struct Place {
  const char* name;
  const char* transport;
  std::uint32_t ranks_per_host;
};

class Leaving : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  }

  using Board = ProcessExchange::Board;
  using Work = std::function<std::string(std::optional<Communicator>&, Board&)>;
  struct Group {
    std::uint32_t ranks = 4;
    /// How late ranks above 0 return from each round of the exchange.
    std::chrono::milliseconds lateness{};
    ForkedChild::Ending ending = ForkedChild::Ending::at_once;
  };
  static constexpr std::uint32_t slow_rank = 1;
  /// Of all ranks, before a call for which the slow rank waits for rank 0. Rank 0 begins it while
  /// the slow rank sleeps in it, and other ranks wait for that one.
  static void begin_after_slow_rank(Communicator& comm, Board& board) {
    comm.barrier();
    begin_first_after_slow_rank(comm, board);
  }
  /// The same before the first call.
  static void begin_first_after_slow_rank(Communicator& comm, Board& board) {
    if (comm.rank() == slow_rank) board.is_slow_call_next = true;
    while (comm.rank() == 0 && !board.is_slow_rank_asleep) std::this_thread::sleep_for(1ms);
    if (comm.rank() == 0) std::this_thread::sleep_for(50ms);
  }
  /// Forks the ranks, and expects that nothing goes wrong in any of them.
  static void run(const Group& group, const Work& work) {
    const auto board = ProcessExchange::board();
    std::vector<std::unique_ptr<ForkedChild>> ranks;
    for (std::uint32_t rank = 0; rank < group.ranks; ++rank) {
      ranks.push_back(std::make_unique<ForkedChild>(
          [&, rank]() -> std::string {
            const Place& place = GetParam();
            if (place.ranks_per_host > 0) {
              setenv("TUTTI_HOSTID", std::to_string(rank / place.ranks_per_host).c_str(), 1);
            }
            ProcessExchange exchange(*board, rank, group.ranks, group.lateness);
            CommunicatorOptions options{.transport = place.transport};
            if (rank == slow_rank) {
              options.while_waiting = [&] {
                if (!board->is_slow_call_next) return;
                board->is_slow_rank_asleep = true;
                std::this_thread::sleep_for(300ms);
              };
            }
            std::optional<Communicator> comm =
                Communicator::create(exchange, rank, group.ranks, options);
            return work(comm, *board);
          },
          group.ending));
    }
    for (std::uint32_t rank = 0; rank < group.ranks; ++rank) {
      EXPECT_EQ(ranks[rank]->wait(), "") << "rank " << rank;
    }
  }
};

TEST_P(Leaving, AtOnceIsNoLossForRanksThatStillMakeTheCommunicator) {
  run({.lateness = 30ms}, [](std::optional<Communicator>& comm, Board& /*board*/) -> std::string {
    std::vector<int> data{1};
    switch (comm->rank()) {
      case 0:
        return "";
      case 1:
        comm->send(data, 2);
        break;
      case 2:
        comm->receive(data, 1);
        break;
      default:
        break;
    }
    std::this_thread::sleep_for(100ms);
    if (const auto verdict = comm->verdict()) return verdict->words;
    return "";
  });
}

TEST_P(Leaving, RanksReceiveWhatALeaverHasSent) {
  run({}, [](std::optional<Communicator>& comm, Board& /*board*/) -> std::string {
    std::vector<int> data(1000, static_cast<int>(comm->rank()));
    std::vector<int> nothing;
    std::vector<int> received(1000);
    if (comm->rank() == 0) {
      comm->send(data, 1, {.tag = 1});
      comm->send(nothing, 1, {.tag = 2});
      return "";
    }
    std::this_thread::sleep_for(100ms);
    if (comm->rank() == 1) {
      comm->receive(nothing, 0, {.tag = 2});
      comm->receive(received, 0, {.tag = 1});
      if (received != std::vector<int>(1000, 0)) return "wrong data";
      return error_of([&] { comm->receive(received, 0, {.tag = 3}); }, ErrorCode::peer_lost,
                      "has left the communicator");
    }
    return "";
  });
}

TEST_P(Leaving, DeliversABroadcastToAVeryLateRank) {
  run({.ranks = 2}, [](std::optional<Communicator>& comm, Board& /*board*/) -> std::string {
    // As much as a connection may hold, so that not all of it fits into the receiver's socket.
    constexpr std::size_t length = 900000;
    std::vector<int> data(length, comm->rank() == 0 ? 7 : 0);
    comm->barrier();
    if (comm->rank() == 1) std::this_thread::sleep_for(2500ms);
    comm->broadcast(data, 0, {.algorithm = "broadcast/flat"});
    return data == std::vector<int>(length, 7) ? "" : "wrong data";
  });
}

TEST_P(Leaving, RanksExchangeMessagesWithoutALeaver) {
  run({}, [](std::optional<Communicator>& comm, Board& /*board*/) -> std::string {
    if (comm->rank() == 2) return "";
    std::this_thread::sleep_for(100ms);
    std::vector<int> data(1000000, static_cast<int>(comm->rank()));
    if (comm->rank() == 0) comm->send(data, 3);
    if (comm->rank() == 3) comm->receive(data, 0);
    if (comm->rank() == 1) std::this_thread::sleep_for(200ms);
    return comm->verdict() ? comm->verdict()->words : "";
  });
}

/// Longer than a message waits before its rank asks whether its peer has left.
TEST_P(Leaving, MessagesOfOthersWaitOnWhileARankLeaves) {
  run({}, [](std::optional<Communicator>& comm, Board& /*board*/) -> std::string {
    std::vector<int> data(1000000, static_cast<int>(comm->rank()));
    std::vector<int> small(1);
    if (comm->rank() == 0) {
      const tutti::Work sent = comm->send_async(data, 3, {.tag = 1});
      comm->send(small, 2);
      std::this_thread::sleep_for(1500ms);
      comm->send(small, 3, {.tag = 2});
      comm->send(small, 3, {.tag = 3});
      sent.wait();
    } else if (comm->rank() == 2) {
      comm->receive(small, 0);
      return "";
    } else if (comm->rank() == 3) {
      const tutti::Work any = comm->receive_async(small, any_rank, {.tag = 3});
      std::vector<int> other(1);
      comm->receive(other, 0, {.tag = 2});
      comm->receive(data, 0, {.tag = 1});
      any.wait();
      if (data != std::vector<int>(1000000, 0)) return "wrong data";
    }
    return comm->verdict() ? comm->verdict()->words : "";
  });
}

TEST_P(Leaving, APartAndItsParentIsNoLossForOthers) {
  run({.lateness = 10ms}, [](std::optional<Communicator>& comm, Board& /*board*/) -> std::string {
    std::optional<Communicator> part = comm->split(comm->rank() / 2);
    std::vector<int> data(10, part->rank() == 0 ? 7 : 0);
    if (part->rank() == 1) std::this_thread::sleep_for(100ms);
    part->broadcast(data, 0);
    if (part->rank() == 0) return "";
    part.reset();
    std::this_thread::sleep_for(100ms);
    if (comm->verdict()) return comm->verdict()->words;
    return data == std::vector<int>(10, 7) ? "" : "wrong data";
  });
}

TEST_P(Leaving, ByExitIsNoLossForOthers) {
  run({.ending = ForkedChild::Ending::exit},
      [](std::optional<Communicator>& comm, Board& /*board*/) -> std::string {
        // Destroyed by exit(), after what tutti has made for itself.
        static std::optional<Communicator> until_exit;
        until_exit.emplace(std::move(*comm));
        comm.reset();
        std::vector<int> data(10, until_exit->rank() == 0 ? 7 : 0);
        if (until_exit->rank() > 0) std::this_thread::sleep_for(100ms);
        until_exit->broadcast(data, 0);
        if (until_exit->rank() > 0) std::this_thread::sleep_for(100ms);
        if (until_exit->verdict()) return until_exit->verdict()->words;
        return data == std::vector<int>(10, 7) ? "" : "wrong data";
      });
}

// Rank 0 is the last to begin the second call and the first to complete it.

TEST_P(Leaving, DeathAfterABarrierDoesNotFailItOnOthers) {
  run({}, [](std::optional<Communicator>& comm, Board& board) -> std::string {
    begin_after_slow_rank(*comm, board);
    comm->barrier({.algorithm = "barrier/dissemination"});
    if (comm->rank() == 0) _exit(0);
    return "";
  });
}

TEST_P(Leaving, DeathAfterABroadcastDoesNotFailItOnOthers) {
  run({}, [](std::optional<Communicator>& comm, Board& board) -> std::string {
    begin_after_slow_rank(*comm, board);
    std::vector<int> data(1000, comm->rank() == 0 ? 7 : 0);
    comm->broadcast(data, 0, {.algorithm = "broadcast/chain"});
    if (comm->rank() == 0) _exit(0);
    return data == std::vector<int>(1000, 7) ? "" : "wrong data";
  });
}

/// The slow rank has not yet accepted the connection over which rank 0 has sent everything.
TEST_P(Leaving, DeathAfterTheFirstCallDoesNotFailItOnOthers) {
  run({}, [](std::optional<Communicator>& comm, Board& board) -> std::string {
    begin_first_after_slow_rank(*comm, board);
    std::vector<int> data(1000, comm->rank() == 0 ? 7 : 0);
    comm->broadcast(data, 0, {.algorithm = "broadcast/flat"});
    if (comm->rank() == 0) _exit(0);
    return data == std::vector<int>(1000, 7) ? "" : "wrong data";
  });
}

TEST_P(Leaving, DoesNotFailACallThatIsCompleteOnTheLeaver) {
  // Rank 2 needs rank 0 in the next call, while rank 3 still waits for rank 1 in this one.
  run({}, [](std::optional<Communicator>& comm, Board& board) -> std::string {
    begin_after_slow_rank(*comm, board);
    comm->barrier({.algorithm = "barrier/dissemination"});
    if (comm->rank() != 2) return "";
    return error_of([&] { comm->barrier(); }, ErrorCode::peer_lost,
                    "it has left the communicator after 2 calls");
  });
}

INSTANTIATE_TEST_SUITE_P(Api, Leaving,
                         ::testing::Values(Place{"Memory", "shm", 0}, Place{"Tcp", "tcp", 0},
                                           Place{"Mixed", "", 2}, Place{"Hosts", "", 1}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tutti::test
