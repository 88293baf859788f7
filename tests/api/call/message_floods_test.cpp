#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/grounds.hpp"

/// Many messages that wait for their receives.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

class MessageFloods : public ::testing::TestWithParam<Ground> {};
INSTANTIATE_TEST_SUITE_P(Messages, MessageFloods, every_ground(), name_of_ground);

std::vector<std::uint32_t> flood_of(std::size_t count, std::uint32_t from) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), from * 1000003U);
  return all;
}

struct Flood {
  std::uint32_t messages;
  std::size_t numbers;
};

/// Sends to all others in the background, and receives from them in the opposite order.
void exchange_floods(Communicator& comm, const Flood& flood) {
  std::vector<std::vector<std::uint32_t>> data;
  std::vector<Work> sends;
  data.reserve(flood.messages);
  for (std::uint32_t tag = 0; tag < flood.messages; ++tag) {
    data.push_back(flood_of(flood.numbers, tag + comm.rank()));
    for (std::uint32_t peer = 0; peer < comm.size(); ++peer) {
      if (peer == comm.rank()) continue;
      sends.push_back(comm.send_async(data.back(), peer, {.tag = tag, .timeout = 20s}));
    }
  }
  std::vector<std::uint32_t> got(flood.numbers);
  for (std::uint32_t tag = flood.messages; tag-- > 0;) {
    for (std::uint32_t peer = 0; peer < comm.size(); ++peer) {
      if (peer == comm.rank()) continue;
      (void)comm.receive(got, peer, {.tag = tag, .timeout = 20s});
      ASSERT_EQ(got, flood_of(flood.numbers, tag + peer)) << "tag " << tag;
    }
  }
  for (const Work& send : sends) send.wait();
}

/// However many messages wait for later receives, a message that has a receive arrives.
TEST_P(MessageFloods, ReceivesInAnotherOrderThanSends) {
  for (const std::uint32_t ranks : {2U, 3U}) {
    for (const Flood flood :
         {Flood{6000, 0}, Flood{2500, 16}, Flood{1000, 250}, Flood{300, 2000}, Flood{40, 25000}}) {
      run_ranks(ranks, GetParam(), [&](Communicator& comm) { exchange_floods(comm, flood); });
    }
  }
}

/// What a receiver keeps of messages without a receive is bounded: the others stay at the sender.
TEST_P(MessageFloods, AFloodWaitsAtItsSender) {
  run_ranks(2, GetParam(), [](Communicator& comm) {
    constexpr std::uint32_t messages = 200;
    constexpr std::size_t bytes = 8000;
    constexpr std::size_t budget = std::size_t{256} << 10;
    std::vector<std::byte> data(bytes);
    if (comm.rank() == 0) {
      std::vector<Work> sends;
      for (std::uint32_t tag = 0; tag < messages; ++tag) {
        sends.push_back(comm.send_async(data, 1, {.tag = tag}));
      }
      const Work last = comm.send_async(data, 1, {.tag = messages});
      last.wait();  // It has a receive.
      comm.barrier();
      const auto done =
          std::count_if(sends.begin(), sends.end(), [](const Work& each) { return each.test(); });
      EXPECT_LE(static_cast<std::size_t>(done) * bytes, budget);
      comm.barrier();
      for (const Work& each : sends) each.wait();
    } else {
      (void)comm.receive(data, 0, {.tag = messages});
      comm.barrier();
      comm.barrier();
      for (std::uint32_t tag = messages; tag-- > 0;) (void)comm.receive(data, 0, {.tag = tag});
    }
  });
}

/// After messages of one communicator have timed out or were cancelled, and after a rank has left,
/// nothing that is still under way disturbs others.
TEST_P(MessageFloods, FloodsAfterATimeout) {
  run_ranks(2, GetParam(), [](Communicator& comm) {
    const std::uint32_t peer = 1 - comm.rank();
    const auto data = flood_of(2000, comm.rank());
    std::vector<std::uint32_t> got(2000);
    std::vector<Work> sends;
    for (std::uint32_t tag = 0; tag < 300; ++tag) {
      sends.push_back(comm.send_async(data, peer, {.tag = tag}));
    }
    comm.barrier();
    if (comm.rank() == 0) {
      expect_error([&] { (void)comm.receive(got, 1, {.tag = 1000, .timeout = 50ms}); },
                   ErrorCode::timed_out, "with tag 1000 from rank 1");
    } else {
      EXPECT_TRUE(eventually([&] { return comm.verdict().has_value(); }));
    }
    for (const Work& send : sends) {
      try {
        send.wait();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::timed_out);
      }
    }
    Regrouped shrunk = comm.shrink();
    ASSERT_EQ(shrunk.communicator->size(), 2U);
    exchange_floods(*shrunk.communicator, {300, 2000});
  });
}

TEST_P(MessageFloods, FloodsAfterCancelledMessages) {
  run_ranks(2, GetParam(), [](Communicator& comm) {
    const std::uint32_t peer = 1 - comm.rank();
    const auto data = flood_of(2000, comm.rank());
    std::vector<std::vector<std::uint32_t>> got(10, std::vector<std::uint32_t>(2000));
    std::vector<Work> works;
    {
      Communicator copy = comm.duplicate();
      for (std::uint32_t tag = 0; tag < 300; ++tag) {
        works.push_back(copy.send_async(data, peer, {.tag = tag, .timeout = 50ms}));
      }
      for (std::uint32_t i = 0; i < got.size(); ++i) {
        works.push_back(copy.receive_async(got[i], peer, {.tag = 1000 + i}));
      }
    }
    for (const Work& work : works) EXPECT_TRUE(work.test());
    exchange_floods(comm, {300, 2000});
  });
}

TEST_P(MessageFloods, FloodsAfterARankHasLeft) {
  run_ranks(3, GetParam(), [](Communicator& comm) {
    std::optional<Communicator> copy = comm.duplicate();
    constexpr std::uint32_t messages = 300;
    const auto data = flood_of(2000, comm.rank());
    std::vector<std::uint32_t> got(2000);
    if (comm.rank() == 2) {
      std::vector<Work> sends;
      for (std::uint32_t tag = 0; tag < messages; ++tag) {
        for (const std::uint32_t to : {0U, 1U}) {
          sends.push_back(copy->send_async(data, to, {.tag = tag}));
        }
      }
      copy.reset();
      for (const Work& send : sends) EXPECT_NO_THROW(send.wait());
    } else {
      for (std::uint32_t tag = messages; tag-- > 0;) {
        (void)copy->receive(got, 2, {.tag = tag});
        ASSERT_EQ(got, flood_of(2000, 2));
      }
      const std::uint32_t peer = 1 - comm.rank();
      for (int i = 0; i < 100; ++i) {
        copy->send_receive(data, peer, got, peer);
        ASSERT_EQ(got, flood_of(2000, peer));
      }
      expect_error([&] { (void)copy->receive(got, 2, {.tag = messages}); }, ErrorCode::peer_lost,
                   "left the communicator");
    }
    comm.barrier();
    exchange_floods(comm, {300, 250});
  });
}

}  // namespace
}  // namespace tutti::test
