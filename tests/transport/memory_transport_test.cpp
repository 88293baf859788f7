#include "transport/memory/memory_transport.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/port_streams.hpp"
#include "transport/inproc/thread_memory.hpp"
#include "transport/memory/shared_header.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t stripe = std::size_t{4} << 20;

/// Two ranks in one thread that cannot see each other's own memory.
class TwoRanks : public ::testing::Test {
 protected:
  /// The port of each rank for one communicator.
  using Ports = std::array<std::unique_ptr<Port>, 2>;
  [[nodiscard]] Ports open(std::uint64_t context, std::vector<std::uint32_t> members = {0, 1}) {
    std::vector<std::uint64_t> offers;
    for (std::uint32_t r = 0; r < 2; ++r) {
      offers.push_back(transports_[r].offer({context, r, members}));
    }
    Ports ports;
    for (std::uint32_t r = 0; r < 2; ++r) {
      ports[r] = transports_[r].open({context, r, members}, offers);
      ports[r]->begin(1, {});
    }
    return ports;
  }

  [[nodiscard]] MemoryTransport::Setting setting(std::uint32_t self) {
    return {.base = memory_.data(),
            .stripe_bytes = stripe,
            .self = self,
            .locals = {0, 1},
            .has_ended = [this](std::uint32_t member) { return has_ended_[member]; },
            .outbox_slots = 4,
            .slot_bytes = 8192};
  }

  const ThreadMemory memory_{Arena::size(stripe, 2)};
  std::array<bool, 2> has_ended_{};
  std::array<MemoryTransport, 2> transports_{MemoryTransport(setting(0)),
                                             MemoryTransport(setting(1))};
  const Rank zero_{0};
  const Rank one_{1};
};

std::vector<std::byte> bytes(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

TEST_F(TwoRanks, MismatchNamesThePeer) {
  const Ports ports = open(1);
  ports[0]->begin(17, {});
  ASSERT_EQ(send(*ports[0], one_, bytes(4, 1)), 4U);
  ports[1]->begin(18, {});
  expect_error([&] { (void)arrived(*ports[1], zero_); }, ErrorCode::mismatch,
               "rank 0 is in another");
}

/// Sends pieces until there is no room, and returns how many bytes were taken.
std::size_t fill(Port& port, Rank peer, std::size_t piece, int value) {
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) {
    const std::size_t more = send(port, peer, bytes(piece, value));
    if (more == 0) break;
    taken += more;
  }
  return taken;
}

TEST_F(TwoRanks, UnreceivedDataDoesNotBlockOtherCommunicators) {
  const Ports stuck = open(1);
  ASSERT_GT(fill(*stuck[0], one_, 8192, 1), 0U);
  // The first communicator has taken all slots that it can get. Others can still send.
  for (std::uint64_t context = 2; context < 40; ++context) {
    const Ports other = open(context);
    const std::vector<std::byte> data = bytes(5000, 7);
    std::vector<std::byte> got(data.size());
    std::size_t sent = 0;
    std::size_t received = 0;
    for (int i = 0; i < 100 && received < data.size(); ++i) {
      if (sent < data.size()) {
        sent += send(*other[0], one_, std::span(data).subspan(sent));
      }
      received += receive(*other[1], zero_, std::span(got).subspan(received));
    }
    EXPECT_EQ(got, data) << "communicator " << context;
  }
  // The stuck communicator continues where it was.
  std::vector<std::byte> first(100);
  EXPECT_EQ(receive(*stuck[1], zero_, first), 100U);
  EXPECT_EQ(first, bytes(100, 1));
}

TEST_F(TwoRanks, FreedSlotsServeOtherPorts) {
  Ports idle = open(1);
  std::vector<std::byte> got(8192);
  const std::size_t sent = fill(*idle[0], one_, 8192, 1);
  ASSERT_GE(sent, 2U * 8192);
  for (std::size_t i = 0; i < sent; i += 8192) ASSERT_EQ(receive(*idle[1], zero_, got), 8192U);
  // The first port does nothing more, but its slots are free.
  const Ports other = open(2);
  EXPECT_EQ(send(*other[0], one_, bytes(8192, 5)), 8192U);
  EXPECT_EQ(send(*other[0], one_, bytes(8192, 6)), 8192U);
}

TEST_F(TwoRanks, SentDataIsReadableAfterSenderClosesItsPort) {
  Ports ports = open(1);
  ASSERT_EQ(send(*ports[0], one_, bytes(3000, 9)), 3000U);
  ports[0].reset();
  for (std::uint64_t context = 2; context < 10; ++context) {
    const Ports other = open(context);
    ASSERT_GT(fill(*other[0], one_, 3000, 1), 0U);
  }
  std::vector<std::byte> got(3000);
  EXPECT_EQ(receive(*ports[1], zero_, got), 3000U);
  EXPECT_EQ(got, bytes(3000, 9));
}

TEST_F(TwoRanks, ClosedCommunicatorsFreeTheirMemory) {
  std::uint64_t highest = 0;
  for (std::uint64_t context = 1; context < 5000; ++context) {
    const Ports ports = open(context);
    ASSERT_EQ(send(*ports[0], one_, bytes(100, 1)), 100U);
    std::vector<std::byte> got(100);
    ASSERT_EQ(receive(*ports[1], zero_, got), 100U);
    if (context == 10) highest = transports_[0].arena().allocate(1);
  }
  EXPECT_LE(transports_[0].arena().allocate(1), highest + (64U << 10));
}

TEST_F(TwoRanks, MemoryIsNotReusedWhileAPeerMayAccessIt) {
  Ports ports = open(1);
  ASSERT_EQ(send(*ports[0], one_, bytes(10, 1)), 10U);
  ports[0].reset();  // Rank 1 keeps its port.
  const std::uint64_t block = transports_[0].arena().allocate(1);
  for (std::uint64_t context = 2; context < 10; ++context) (void)open(context);
  std::vector<std::byte> got(10);
  EXPECT_EQ(receive(*ports[1], zero_, got), 10U) << "its ring is unchanged";
  EXPECT_EQ(got, bytes(10, 1));
  transports_[0].arena().release(block);
}

TEST_F(TwoRanks, MemoryIsReusedAfterPeerProcessHasEnded) {
  for (std::uint64_t context = 1; context < 2000; ++context) {
    Ports ports = open(context);
    ASSERT_EQ(send(*ports[0], one_, bytes(100, 1)), 100U) << context;
    has_ended_[1] = true;
    ports[0].reset();  // Rank 1 still has its port.
    (void)transports_[0].arena();
    has_ended_[1] = false;
    ports[1].reset();
  }
}

TEST(Arena, ThrowsWhenFullAndReusesZeroedBlocks) {
  const ThreadMemory memory(Arena::size(65536, 2));
  Arena arena(memory.data(), 65536, 1);
  const std::uint64_t first = arena.allocate(40000);
  EXPECT_GE(first, 65536U) << "in its own stripe";
  expect_error([&] { (void)arena.allocate(40000); }, ErrorCode::unsupported,
               "destroy communicators that are no longer needed");
  std::memset(arena.at(first), 1, 40000);
  arena.release(first);
  const std::uint64_t again = arena.allocate(40000);
  EXPECT_EQ(again, first);
  EXPECT_EQ(std::count(arena.at(again), arena.at(again) + 40000, std::byte{0}), 40000)
      << "zeros again";
}

/// When the outbox is full, a rank can still send to each peer, a little at a time. Otherwise ranks
/// could wait for each other in a cycle.
TEST(ThreeRanks, ReservedSlotIsNotUsedForAnotherPeer) {
  constexpr std::uint32_t ranks = 3;
  const ThreadMemory memory(Arena::size(stripe, ranks));
  const auto setting = [&](std::uint32_t self) {
    return MemoryTransport::Setting{.base = memory.data(),
                                    .stripe_bytes = stripe,
                                    .self = self,
                                    .locals = {0, 1, 2},
                                    .has_ended = [](std::uint32_t) { return false; },
                                    .outbox_slots = 4,
                                    .slot_bytes = 8192};
  };
  MemoryTransport sender(setting(0));
  const auto open = [&](std::uint64_t context) {
    const Membership membership{.context = context, .self = Rank{0}, .members = {0, 1, 2}};
    const std::vector<std::uint64_t> offers{sender.offer(membership), 0, 0};
    std::unique_ptr<Port> port = sender.open(membership, offers);
    port->begin(1, {});
    return port;
  };
  const Rank one{1};
  const Rank two{2};
  std::vector<std::unique_ptr<Port>> stuck;
  for (std::uint64_t context = 1; context < 5; ++context) {
    stuck.push_back(open(context));
    (void)fill(*stuck.back(), one, 8192, 1);
  }
  const std::unique_ptr<Port> port = open(9);
  const std::vector<std::byte> data = bytes(8192, 1);
  std::vector<std::byte*> copies;
  EXPECT_EQ(
      port->prepare({.peers = {&one, 1}, .data = data, .message = data.size()}, 0, true, copies),
      Port::Copies::none);
  EXPECT_GT(send(*port, two, bytes(8192, 2)), 0U);
  EXPECT_GT(send(*port, one, bytes(8192, 1)), 0U);
}

}  // namespace
}  // namespace tutti::test
