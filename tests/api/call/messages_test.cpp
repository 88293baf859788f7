#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/grounds.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

class EveryGround : public ::testing::TestWithParam<Ground> {};
INSTANTIATE_TEST_SUITE_P(Messages, EveryGround, every_ground(), name_of_ground);

std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t from) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), from * 1000003U);
  return all;
}

TEST_P(EveryGround, ReceivesBeforeSendsDoNotDeadlock) {
  for (const std::uint32_t ranks : {2U, 4U}) {
    for (const std::size_t count : {2U, 5000U, 1000000U}) {
      run_ranks(ranks, GetParam(), [&](Communicator& comm) {
        const std::uint32_t left = (comm.rank() + ranks - 1) % ranks;
        const std::uint32_t right = (comm.rank() + 1) % ranks;
        const auto data = numbers(count, comm.rank());
        std::vector<std::uint32_t> from_left(count);
        std::vector<std::uint32_t> from_right(count);
        for (int i = 0; i < 3; ++i) {
          // With two ranks, left and right are the same rank; tags distinguish the messages.
          const Work works[] = {comm.receive_async(from_left, left, {.tag = 1}),
                                comm.receive_async(from_right, right, {.tag = 2}),
                                comm.send_async(data, left, {.tag = 2}),
                                comm.send_async(data, right, {.tag = 1})};
          for (const Work& work : works) work.wait();
          EXPECT_EQ(from_left, numbers(count, left));
          EXPECT_EQ(from_right, numbers(count, right));
        }
      });
    }
  }
}

TEST_P(EveryGround, MessagesAreCountedByPeer) {
  run_ranks(3, GetParam(), [&](Communicator& comm) {
    const auto data = numbers(500, comm.rank());
    std::vector<std::uint32_t> got(800);
    const std::uint32_t next = (comm.rank() + 1) % 3;
    const std::uint32_t previous = (comm.rank() + 2) % 3;
    for (int i = 0; i < 2; ++i) {
      const Work sent = comm.send_async(data, next);
      EXPECT_EQ(comm.receive(got, any_rank, {.may_be_shorter = true}).rank, previous);
      sent.wait();
    }
    comm.send_receive(data, comm.rank(), std::span(got).first(500), comm.rank());

    const Counters counters = comm.message_counters();
    EXPECT_EQ(counters.calls, 6U);
    ASSERT_EQ(counters.peers.size(), 3U);
    EXPECT_EQ(counters.peers[next], (PeerCounters{.bytes_sent = 4000, .messages_sent = 2}));
    EXPECT_EQ(counters.peers[previous],
              (PeerCounters{.bytes_received = 4000, .messages_received = 2}));
    EXPECT_EQ(counters.peers[comm.rank()], (PeerCounters{.bytes_sent = 2000,
                                                         .bytes_received = 2000,
                                                         .messages_sent = 1,
                                                         .messages_received = 1}));
    EXPECT_EQ(comm.counters(Collective::alltoall).total(), PeerCounters{});
  });
}

TEST_P(EveryGround, EveryPairAtOnceInOneGroup) {
  constexpr std::uint32_t ranks = 4;
  run_ranks(ranks, GetParam(), [&](Communicator& comm) {
    const auto data = numbers(3000, comm.rank());
    std::vector<std::vector<std::uint32_t>> got(ranks, std::vector<std::uint32_t>(3000));
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      out.push_back({.data = data.data(), .bytes = data.size() * 4, .to = r});
      in.push_back({.data = got[r].data(), .bytes = got[r].size() * 4, .from = r});
    }
    const std::vector<Envelope> envelopes = comm.run(out, in);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      EXPECT_EQ(got[r], numbers(3000, r));
      EXPECT_EQ(envelopes.at(r), (Envelope{.rank = r, .tag = 0, .bytes = 12000}));
    }
  });
}

TEST_P(EveryGround, OrderHoldsPerTagAndReceivesMayChooseAmongTags) {
  run_ranks(2, GetParam(), [&](Communicator& comm) {
    constexpr std::uint32_t messages = 50;
    if (comm.rank() == 0) {
      std::vector<Work> works;
      std::vector<std::vector<std::uint32_t>> data;
      data.reserve(2 * messages);
      for (std::uint32_t i = 0; i < messages; ++i) {
        // Short and long messages must not overtake each other.
        const std::size_t count = i % 3 == 0 ? 1 : i % 3 == 1 ? 700 : 20000;
        for (const std::uint32_t tag : {7U, 9U}) {
          data.push_back(numbers(count, i * 10 + tag));
          works.push_back(comm.send_async(data.back(), 1, {.tag = tag}));
        }
      }
      for (const Work& work : works) work.wait();
    } else {
      std::vector<std::uint32_t> got(20000);
      for (const std::uint32_t tag : {9U, 7U}) {
        for (std::uint32_t i = 0; i < messages; ++i) {
          const std::size_t count = i % 3 == 0 ? 1 : i % 3 == 1 ? 700 : 20000;
          const Envelope envelope = comm.receive(got, 0, {.tag = tag, .may_be_shorter = true});
          ASSERT_EQ(envelope, (Envelope{.rank = 0, .tag = tag, .bytes = count * 4}));
          const auto wanted = numbers(count, i * 10 + tag);
          ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), got.begin())) << tag << " " << i;
        }
      }
    }
  });
}

TEST_P(EveryGround, ReceivesFromAnyRankAndProbes) {
  constexpr std::uint32_t ranks = 4;
  run_ranks(ranks, GetParam(), [&](Communicator& comm) {
    // The highest rank receives first, so over TCP the lower ranks must be told to connect.
    for (const std::uint32_t server : {ranks - 1, 0U}) {
      if (comm.rank() != server) {
        const auto data = numbers(10 + comm.rank(), comm.rank());
        comm.send(data, server, {.tag = 100 + comm.rank()});
        continue;
      }
      std::vector<bool> seen(ranks);
      for (std::uint32_t i = 1; i < ranks; ++i) {
        const Envelope next = comm.probe(any_rank, {.tag = any_tag});
        EXPECT_EQ(next.tag, 100 + next.rank);
        EXPECT_EQ(next.bytes, (10 + next.rank) * 4);
        EXPECT_EQ(comm.try_probe(next.rank, next.tag), next);
        EXPECT_FALSE(comm.try_probe(next.rank, 5).has_value());
        std::vector<std::uint32_t> got(next.bytes / 4);
        EXPECT_EQ(comm.receive(got, any_rank, {.tag = any_tag}), next);
        EXPECT_EQ(got, numbers(got.size(), next.rank));
        seen[next.rank] = true;
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), ranks - 1);
    }
    comm.barrier();
  });
}

/// Polling must also accept connections: these ranks have never exchanged anything.
TEST_P(EveryGround, TryProbeAloneFindsTheFirstMessageOfAnyRank) {
  run_ranks(2, GetParam(), [](Communicator& comm) {
    if (comm.rank() == 1) {
      comm.send(numbers(3, 1), 0, {.tag = 7});
      return;
    }
    std::optional<Envelope> found;
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (!found && std::chrono::steady_clock::now() < give_up) {
      found = comm.try_probe(any_rank, 7);
    }
    ASSERT_TRUE(found.has_value());
    std::vector<std::uint32_t> got(3);
    EXPECT_EQ(comm.receive(got, found->rank, {.tag = 7}), *found);
  });
}

/// These ranks have never exchanged anything, so they connect meanwhile.
TEST_P(EveryGround, ShortWaitsGiveNoRankUp) {
  run_ranks(2, GetParam(), [](Communicator& comm) {
    std::vector<std::uint32_t> got(3);
    const auto data = numbers(3, comm.rank());
    const std::uint32_t other = 1 - comm.rank();
    if (comm.rank() == 0) std::this_thread::sleep_for(100ms);
    const Work receive = comm.receive_async(got, other);
    const Work send = comm.send_async(data, other);
    while (!receive.wait_for(0s) || !send.wait_for(0s)) {
    }
    EXPECT_EQ(got, numbers(3, other));
  });
}

TEST_P(EveryGround, CollectivesDoNotWaitForUnmatchedMessages) {
  run_ranks(3, GetParam(), [&](Communicator& comm) {
    const std::uint32_t right = (comm.rank() + 1) % 3;
    const std::uint32_t left = (comm.rank() + 2) % 3;
    std::vector<std::uint32_t> got(100000);
    const auto data = numbers(got.size(), comm.rank());
    const Work receive = comm.receive_async(got, left);
    const Work send = comm.send_async(data, right, {.tag = 5});  // Not received yet.
    for (int i = 0; i < 20; ++i) {
      EXPECT_FALSE(receive.test());
      std::vector<int> sum{1};
      comm.all_reduce(sum);
      ASSERT_EQ(sum.front(), 3);
    }
    comm.send(data, right);
    receive.wait();
    EXPECT_EQ(got, numbers(got.size(), left));
    comm.receive(got, left, {.tag = 5});
    send.wait();
  });
}

TEST_P(EveryGround, UnreceivedMessagesDelayNoOtherCommunicator) {
  run_ranks(2, GetParam(), [&](Communicator& comm) {
    Communicator other = comm.duplicate();
    const std::uint32_t peer = 1 - comm.rank();
    // More than a receiver buffers: the rest waits at the sender.
    std::vector<std::uint32_t> data(2000, comm.rank());
    std::vector<Work> works;
    for (int i = 0; i < 200; ++i) works.push_back(comm.send_async(data, peer));
    for (int i = 0; i < 50; ++i) {
      std::vector<std::uint32_t> got(30000);
      other.send_receive(numbers(30000, comm.rank()), peer, got, peer);
      ASSERT_EQ(got, numbers(30000, peer));
    }
    for (int i = 0; i < 200; ++i) {
      std::vector<std::uint32_t> got(2000);
      comm.receive(got, peer);
      ASSERT_EQ(got, std::vector<std::uint32_t>(2000, peer));
    }
    for (const Work& work : works) work.wait();
    comm.barrier();
  });
}

TEST_P(EveryGround, MessagesDoNotMixWithCollectivesOfTheFirstDuplicate) {
  run_ranks(3, GetParam(), [&](Communicator& comm) {
    Communicator first = comm.duplicate();
    const std::uint32_t right = (comm.rank() + 1) % 3;
    const std::uint32_t left = (comm.rank() + 2) % 3;
    const auto data = numbers(20000, comm.rank());
    for (int i = 0; i < 10; ++i) {
      std::vector<std::uint32_t> got(data.size());
      const Work works[] = {comm.receive_async(got, left), comm.send_async(data, right)};
      std::vector<std::uint32_t> sum(1000, 1);
      first.all_reduce(sum);
      ASSERT_EQ(sum.back(), 3U);
      for (const Work& work : works) work.wait();
      ASSERT_EQ(got, numbers(data.size(), left));
    }
    comm.barrier();
  });
}

TEST_P(EveryGround, SendsToItself) {
  run_ranks(2, GetParam(), [&](Communicator& comm) {
    const std::uint32_t self = comm.rank();
    for (const std::size_t count : {0U, 1U, 10000U}) {
      std::vector<std::uint32_t> got(count);
      comm.send(numbers(count, 1), self, {.tag = 3});
      EXPECT_EQ(comm.receive(got, self, {.tag = 3}).bytes, count * 4);
      EXPECT_EQ(got, numbers(count, 1));
    }
    // Longer than any message that is buffered.
    std::vector<std::uint32_t> got(500000);
    const auto data = numbers(got.size(), 2);
    const Work send = comm.send_async(data, self);
    comm.receive(got, any_rank);
    send.wait();
    EXPECT_EQ(got, data);
    comm.barrier();
  });
}

TEST_P(EveryGround, WrongLengthIsAnErrorAtBothEnds) {
  for (const std::size_t sent : {4U, 100000U}) {
    run_ranks(2, GetParam(), [&](Communicator& comm) {
      const auto meet = [&] {
        if (comm.rank() == 0) {
          comm.send(numbers(sent, 0), 1);
          comm.barrier();  // The send of a short message returns before the error is known.
        } else {
          std::vector<std::uint32_t> got(sent - 1);
          comm.receive(got, 0, {.may_be_shorter = true});
        }
      };
      expect_error(meet, ErrorCode::mismatch, "rank 0 sent " + std::to_string(sent * 4) + " bytes");
      ASSERT_TRUE(comm.verdict().has_value());
      EXPECT_EQ(comm.verdict()->code, ErrorCode::mismatch);
    });
  }
}

TEST_P(EveryGround, WrongLengthToAReceiveFromAnyRankBlamesTheSender) {
  for (const std::size_t sent : {4U, 100000U}) {
    run_ranks(3, GetParam(), [&](Communicator& comm) {
      const auto meet = [&] {
        std::vector<std::uint32_t> got(sent - 1);
        if (comm.rank() == 1) comm.send(numbers(sent, 0), 2);
        if (comm.rank() == 2) comm.receive(got, any_rank, {.tag = any_tag});
        comm.barrier();
      };
      expect_error(meet, ErrorCode::mismatch, "rank 1 sent " + std::to_string(sent * 4) + " bytes");
      ASSERT_TRUE(comm.verdict().has_value());
      EXPECT_EQ(comm.verdict()->ranks, std::vector<std::uint32_t>{1});
    });
  }
}

TEST_P(EveryGround, UnansweredReceiveTimesOutAndNamesTheRank) {
  run_ranks(2, GetParam(), [&](Communicator& comm) {
    std::vector<std::uint32_t> got(1);
    if (comm.rank() == 0) {
      expect_error([&] { comm.receive(got, 1, {.timeout = 200ms}); }, ErrorCode::timed_out,
                   "receive of 4 bytes from rank 1");
    } else {
      EXPECT_TRUE(eventually([&] { return comm.verdict().has_value(); }));
      expect_error(
          [&] {
            for (int i = 0; i < 1000; ++i) comm.send(got, 0, {.timeout = 5000ms});
          },
          ErrorCode::timed_out, "from rank 1");
    }
  });
}

TEST_P(EveryGround, AsynchronousReceiveFailsWithTheVerdict) {
  run_ranks(3, GetParam(), [&](Communicator& comm) {
    std::vector<std::uint32_t> got(1);
    const Work receive = comm.receive_async(got, (comm.rank() + 1) % 3);
    std::atomic<int> called{0};
    receive.then([&](std::exception_ptr failure) { called = failure ? 1 : 2; });
    comm.barrier();
    if (comm.rank() == 2) {
      std::this_thread::sleep_for(100ms);  // The others must leave the barrier first.
      comm.abort("enough");
    }
    expect_error([&] { receive.wait(); }, ErrorCode::aborted, "enough");
    for (int i = 0; i < 1000 && called == 0; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(called, 1);
  });
}

TEST_P(EveryGround, SeveralThreadsMayUseMessagesAtOnce) {
  run_ranks(2, GetParam(), [&](Communicator& comm) {
    const std::uint32_t peer = 1 - comm.rank();
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (std::uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint32_t i = 0; i < 50; ++i) {
          const std::size_t count = 1 + (i * 37 + t * 11) % 5000;
          std::vector<std::uint32_t> got(count);
          comm.send_receive(numbers(count, comm.rank() * 100 + t * 7 + i), peer, got, peer,
                            {.tag = t});
          if (got != numbers(count, peer * 100 + t * 7 + i)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    comm.barrier();
  });
}

TEST(Messages, InvalidArgumentsAreRejected) {
  run_threads(2, [](Communicator& comm) {
    std::vector<int> data(4);
    expect_error([&] { comm.send(data, 2); }, ErrorCode::invalid_argument, "rank 2 is not one of");
    expect_error([&] { comm.receive(data, 7); }, ErrorCode::invalid_argument, "ranks 0 to 1");
    expect_error([&] { comm.send(data, 0, {.tag = any_tag}); }, ErrorCode::invalid_argument,
                 "any_tag");
    expect_error([&] { comm.send_receive(data, 0, data, 0); }, ErrorCode::invalid_argument,
                 "overlap");
    const Outgoing null{.data = nullptr, .bytes = 4, .to = 0};
    expect_error([&] { comm.run({&null, 1}, {}); }, ErrorCode::invalid_argument, "null");
    for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} / 2, std::size_t{1} << 57}) {
      const std::string why = std::to_string(bytes) + " bytes: no memory is that large";
      const Outgoing out{.data = data.data(), .bytes = bytes, .to = 0};
      expect_error([&] { comm.run({&out, 1}, {}); }, ErrorCode::invalid_argument, "send of " + why);
      const Incoming in{.data = data.data(), .bytes = bytes, .from = 0};
      expect_error(
          [&] {
            comm.run({}, {&in, 1});
          },
          ErrorCode::invalid_argument, "receive of " + why);
    }
    // A product that would wrap around to 4 bytes.
    const std::span<const int> wrapping(data.data(), (~std::size_t{0} / sizeof(int)) + 2);
    expect_error([&] { comm.send(wrapping, 0); }, ErrorCode::invalid_argument,
                 "no memory is that large");
    comm.barrier();
  });
}

TEST(Messages, DestroyingACommunicatorFailsPendingReceives) {
  run_threads(2, [](Communicator& comm) {
    Communicator copy = comm.duplicate();
    std::vector<int> data(4);
    if (comm.rank() == 0) {
      Work receive;
      {
        Communicator gone = std::move(copy);
        receive = gone.receive_async(data, 1);
      }
      expect_error([&] { receive.wait(); }, ErrorCode::aborted, "destroyed");
    }
    // A rank that leaves without a send would fail the receive before.
    comm.barrier();
  });
}

/// The destructor waits for a send until its deadline. Then either the messenger has reported it as
/// late, or the destructor cancels it.
TEST(Messages, DestroyingACommunicatorNamesItsPendingMessages) {
  std::atomic<int> cancelled{0};
  run_threads(2, [&](Communicator& comm) {
    const std::string other = std::to_string(1 - comm.rank());
    const std::vector<char> out(1 << 20);
    std::vector<char> in(1 << 20);
    for (int i = 0; i < 10; ++i) {
      Work send;
      Work receive;
      {
        Communicator copy = comm.duplicate();
        receive = copy.receive_async(in, 1 - comm.rank(), {.tag = 8});
        send = copy.send_async(out, 1 - comm.rank(), {.tag = 7, .timeout = 50ms});
      }
      try {
        send.wait();
        ADD_FAILURE() << "nobody has received it";
      } catch (const Error& error) {
        if (error.code() != ErrorCode::aborted) continue;
        ++cancelled;
        EXPECT_EQ(std::string(error.what()),
                  "rank " + std::to_string(comm.rank()) + ": send of 1048576 bytes with tag 7 to " +
                      "rank " + other + ": the communicator was destroyed before it was received");
      }
      expect_error([&] { receive.wait(); }, ErrorCode::aborted,
                   "receive of 1048576 bytes with tag 8 from rank " + other +
                       ": the communicator was destroyed before a message arrived");
    }
  });
  EXPECT_GT(cancelled, 0);
}

/// The last communicator takes the messenger with it.
TEST(Messages, CommunicatorsCanBeDestroyedWhileAnotherThreadWaits) {
  std::vector<std::vector<int>> data(2, std::vector<int>(4));
  std::vector<std::thread> waiting(2);
  run_threads(2, [&](Communicator& comm) {
    const Work receive = comm.receive_async(data[comm.rank()], 1 - comm.rank());
    waiting[comm.rank()] = std::thread([receive] {
      for (int i = 0; i < 2; ++i) {
        try {
          receive.wait();
          ADD_FAILURE() << "nobody has sent it";
        } catch (const Error& error) {
          // The other rank may be the first to leave.
          const char* const why = error.code() == ErrorCode::peer_lost ? "has left" : "destroyed";
          EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
        }
      }
    });
  });
  for (std::thread& each : waiting) each.join();
}

}  // namespace
}  // namespace tutti::test
