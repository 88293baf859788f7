// Parcels: short data to or from several peers, in one call of the port.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "transport/inproc/thread_view.hpp"
#include "transport/memory_ports.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t most_notes = Mailbox::capacity;

/// Rank 0 sends to ranks 1 and 2. All are in one thread.
class Parcels : public ::testing::Test {
 protected:
  Parcels() {
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = static_cast<std::byte>(i / 7);
  }

  /// A parcel of so many bytes for each of ranks 1 and 2.
  [[nodiscard]] static std::vector<Port::Parcel> parcels(std::uint32_t bytes) {
    return {{.peer = Rank{1}, .bytes = bytes, .offset = 0, .index = 0},
            {.peer = Rank{2}, .bytes = bytes, .offset = bytes, .index = 1}};
  }
  [[nodiscard]] bool send(std::span<const Port::Parcel> parcels) {
    const std::size_t bytes = parcels.front().bytes;
    return ports_[0]->send_each({.parcels = parcels,
                                 .data = std::span<const std::byte>(input_).first(2 * bytes),
                                 .windows = {},
                                 .shortest = bytes,
                                 .longest = bytes},
                                positions_);
  }
  /// Receives what rank 0 has sent to a rank, and returns whether it is right.
  [[nodiscard]] bool receive(std::uint32_t rank, std::uint32_t bytes) {
    std::vector<std::byte> output(bytes);
    const Port::Parcel parcel{.peer = Rank{0}, .bytes = bytes};
    if (ports_[rank]->receive_each({&parcel, 1}, output.data(), false) != 1) return false;
    return std::equal(output.begin(), output.end(),
                      input_.begin() + static_cast<std::ptrdiff_t>((rank - 1) * bytes));
  }

  ThreadView view_;
  MemoryPorts ports_{3, view_};
  std::vector<std::byte> input_ = std::vector<std::byte>(16384);
  std::vector<std::uint64_t> positions_ = std::vector<std::uint64_t>(2);
  const std::array<Rank, 2> others_{Rank{1}, Rank{2}};
};

TEST_F(Parcels, ArriveEnclosedStagedOrInPlace) {
  std::uint64_t sent = 0;
  for (const std::uint32_t bytes : {8U, 48U, 49U, 512U, 4096U}) {
    ASSERT_TRUE(send(parcels(bytes))) << bytes;
    EXPECT_EQ(positions_, (std::vector<std::uint64_t>{sent, sent}));
    sent += bytes;
    EXPECT_EQ(ports_[0]->sent(Rank{1}), sent);
    EXPECT_EQ(ports_[0]->sent(Rank{2}), sent);
    EXPECT_TRUE(receive(1, bytes)) << bytes;
    EXPECT_TRUE(receive(2, bytes)) << bytes;
    EXPECT_TRUE(ports_[0]->all_released(others_)) << bytes;
  }
}

TEST_F(Parcels, AreReadInPlaceFromTheUsualSizeOn) {
  ports_[0]->read_in_place_from(1024);
  ASSERT_TRUE(send(parcels(1024)));
  EXPECT_FALSE(ports_[0]->all_released(others_));
  ASSERT_TRUE(receive(1, 1024));
  EXPECT_FALSE(ports_[0]->all_released(others_)) << "rank 2 has not read its parcel";
  ASSERT_TRUE(receive(2, 1024));
  EXPECT_TRUE(ports_[0]->all_released(others_));
  ASSERT_TRUE(send(parcels(512)));
  EXPECT_TRUE(ports_[0]->all_released(others_)) << "copied";
}

TEST(SharedData, IsReadAtOnceByRanksWithCoresOfTheirOwn) {
  ThreadView view;
  const std::vector<std::byte> data(4096);
  for (const std::uint32_t spins : {0U, 10U}) {
    const MemoryPorts ports(2, view, {.spins = spins, .yields = 1});
    EXPECT_EQ(ports[0]->shares(data), spins > 0);
  }
}

TEST_F(Parcels, AreAllSentOrNone) {
  const Rank two{2};
  for (std::size_t i = 0; i < most_notes; ++i) {
    ASSERT_EQ(ports_[0]->send({&two, 1}, std::span<const std::byte>(input_).first(8)), 8U);
  }
  EXPECT_FALSE(send(parcels(8))) << "there is no room for rank 2";
  EXPECT_EQ(ports_[0]->sent(Rank{1}), 0U);
  ports_[2]->consume(Rank{0}, ports_[2]->arrived(Rank{0}).size());
  EXPECT_TRUE(send(parcels(8)));
}

TEST_F(Parcels, AreReceivedInOrder) {
  std::array<std::byte, 16> output{};
  const std::array<Port::Parcel, 2> wanted{Port::Parcel{.peer = Rank{1}, .bytes = 8, .offset = 0},
                                           Port::Parcel{.peer = Rank{2}, .bytes = 8, .offset = 8}};
  const Rank zero{0};
  ASSERT_EQ(ports_[2]->send({&zero, 1}, std::span<const std::byte>(input_).first(8)), 8U);
  EXPECT_EQ(ports_[0]->receive_each(wanted, output.data(), false), 0U) << "rank 1 is first";
  ASSERT_EQ(ports_[1]->send({&zero, 1}, std::span<const std::byte>(input_).first(8)), 8U);
  EXPECT_EQ(ports_[0]->receive_each(wanted, output.data(), true), 0U) << "nobody has put it there";
  EXPECT_EQ(ports_[0]->receive_each(wanted, output.data(), false), 2U);
  EXPECT_EQ(ports_[0]->consumed(Rank{1}), 8U);
  EXPECT_EQ(ports_[0]->consumed(Rank{2}), 8U);
}

TEST_F(Parcels, ExposeAWindowEach) {
  std::vector<std::byte> output(256);
  std::vector<Port::Parcel> sent = parcels(128);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i].window_bytes = 128;
    sent[i].window_offset = 128 * i;
  }
  ASSERT_TRUE(ports_[0]->send_each({.parcels = sent,
                                    .data = std::span<const std::byte>(input_).first(256),
                                    .windows = output,
                                    .shortest = 128,
                                    .longest = 128},
                                   positions_));
  const Rank zero{0};
  std::vector<std::byte*> windows;
  for (std::uint32_t r = 1; r < 3; ++r) {
    ASSERT_TRUE(receive(r, 128));
    ASSERT_TRUE(ports_[r]->find_windows({&zero, 1}, 128, 0, windows));
    EXPECT_EQ(windows.front(), output.data() + std::size_t{128} * (r - 1));
    std::fill_n(windows.front(), 128, static_cast<std::byte>(r));
    ports_[r]->put({&zero, 1}, 128);
  }
  EXPECT_EQ(ports_[0]->receive_each(sent, output.data(), true), 2U);
  EXPECT_EQ(output.front(), std::byte{1});
  EXPECT_EQ(output.back(), std::byte{2});
  EXPECT_TRUE(ports_[0]->all_released(others_)) << "the notes said that the parcels were read";
}

}  // namespace
}  // namespace tutti::test
