// Batches: sends to several peers that are made together.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "support/port_streams.hpp"
#include "transport/inproc/thread_view.hpp"
#include "transport/memory/outbox.hpp"
#include "transport/memory_ports.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t most_notes = DescriptorRing::capacity;

/// Rank 0 sends to ranks 1 and 2. All are in one thread.
class Batches : public ::testing::Test {
 protected:
  Batches() {
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = static_cast<std::byte>(i / 7);
  }

  /// Sends so many bytes to each of ranks 1 and 2.
  [[nodiscard]] Port::Posted post(std::size_t bytes) {
    std::array<Port::Send, 2> sends;
    for (std::size_t i = 0; i < 2; ++i) {
      sends[i] = {.peers = {&others_[i], 1},
                  .data = std::span<const std::byte>(input_).subspan(i * bytes, bytes),
                  .message = bytes};
    }
    return ports_[0]->post(sends);
  }
  /// Receives what rank 0 has sent to a rank, and returns whether it is right.
  [[nodiscard]] bool receives(std::uint32_t rank, std::size_t bytes) {
    std::vector<std::byte> output(bytes);
    if (receive(*ports_[rank], Rank{0}, output) != bytes) return false;
    return std::equal(output.begin(), output.end(),
                      input_.begin() + static_cast<std::ptrdiff_t>((rank - 1) * bytes));
  }
  [[nodiscard]] bool all_released() {
    return std::all_of(others_.begin(), others_.end(),
                       [this](Rank rank) { return is_released(*ports_[0], rank); });
  }

  ThreadView view_;
  MemoryPorts ports_{3, view_};
  std::vector<std::byte> input_ = std::vector<std::byte>(16384);
  const std::array<Rank, 2> others_{Rank{1}, Rank{2}};
};

TEST_F(Batches, ArriveInlineStagedOrInPlace) {
  for (const std::size_t bytes : {8U, 48U, 49U, 512U, 4096U}) {
    const Port::Posted posted = post(bytes);
    ASSERT_EQ(posted.sends, 2U) << bytes;
    EXPECT_EQ(posted.is_outstanding, bytes == 4096) << bytes;
    EXPECT_TRUE(receives(1, bytes)) << bytes;
    EXPECT_TRUE(receives(2, bytes)) << bytes;
    EXPECT_TRUE(all_released()) << bytes;
  }
}

TEST_F(Batches, AreReadInPlaceFromTheSizeInTheTerms) {
  ports_[0]->begin(1, {.zero_copy_from = 1024});
  ASSERT_EQ(post(1024).sends, 2U);
  EXPECT_EQ(ports_[0]->unreleased(Rank{1}), 1024U);
  ASSERT_TRUE(receives(1, 1024));
  EXPECT_TRUE(is_released(*ports_[0], Rank{1}));
  EXPECT_FALSE(all_released()) << "rank 2 has not read its data";
  ASSERT_TRUE(receives(2, 1024));
  EXPECT_TRUE(all_released());
  ASSERT_EQ(post(512).sends, 2U);
  EXPECT_TRUE(all_released()) << "copied";
}

TEST_F(Batches, AreStagedAsFarAsTheTermsAllow) {
  ports_[0]->begin(1, {.zero_copy_from = ~std::size_t{0}, .staged_at_a_time = 1024});
  EXPECT_EQ(post(1024).sends, 2U);
  const Port::Posted posted = post(4096);
  EXPECT_EQ(posted.sends, 0U);
  EXPECT_EQ(posted.bytes, 1024U);
  EXPECT_TRUE(receives(1, 1024));
  EXPECT_TRUE(receives(1, 1024)) << "the same bytes again";
  EXPECT_TRUE(receives(2, 1024));
}

/// With a slot for each send there would be room for half as many.
TEST_F(Batches, TakeOneSlotTogether) {
  ports_[0]->begin(1, {.zero_copy_from = ~std::size_t{0}});
  std::size_t taken = 0;
  while (taken < most_notes && post(64).sends == 2) ++taken;
  EXPECT_GT(taken, Outbox::usual_slots / 2);
  for (std::size_t i = 0; i < taken; ++i) {
    ASSERT_TRUE(receives(1, 64));
    ASSERT_TRUE(receives(2, 64));
  }
}

TEST_F(Batches, EndWhereThereIsNoRoom) {
  for (std::size_t i = 0; i < most_notes; ++i) {
    ASSERT_EQ(send(*ports_[0], Rank{2}, std::span<const std::byte>(input_).first(8)), 8U);
  }
  const Port::Posted posted = post(8);
  EXPECT_EQ(posted.sends, 1U) << "there is no room for rank 2";
  EXPECT_EQ(posted.bytes, 0U);
  EXPECT_TRUE(receives(1, 8));
  EXPECT_TRUE(arrived(*ports_[1], Rank{0}).empty());
  ASSERT_EQ(arrived(*ports_[2], Rank{0}).size(), 8U);
  consume(*ports_[2], Rank{0}, 8);
  EXPECT_EQ(post(8).sends, 2U);
}

TEST_F(Batches, AnnounceAWindowEach) {
  std::vector<std::byte> output(256);
  std::array<Port::Window, 2> windows;
  std::array<Port::Send, 2> sends;
  for (std::size_t i = 0; i < 2; ++i) {
    windows[i].memory = std::span(output).subspan(128 * i, 128);
    sends[i] = {.peers = {&others_[i], 1},
                .data = std::span<const std::byte>(input_).subspan(128 * i, 128),
                .message = 128,
                .window = &windows[i]};
  }
  ASSERT_EQ(ports_[0]->post(sends).sends, 2U);
  EXPECT_FALSE(all_released()) << "so that the descriptors of the peers say that it was read";
  const Rank zero{0};
  std::vector<std::byte*> copies;
  for (std::uint32_t r = 1; r < 3; ++r) {
    ASSERT_TRUE(receives(r, 128));
    Port::Send answer{
        .peers = {&zero, 1}, .data = std::span<const std::byte>(input_).first(128), .message = 128};
    ASSERT_EQ(ports_[r]->prepare(answer, 0, false, copies), Port::Copies::put);
    EXPECT_EQ(copies.front(), output.data() + std::size_t{128} * (r - 1));
    std::fill_n(copies.front(), 128, static_cast<std::byte>(r));
    answer.is_prepared = true;
    ASSERT_EQ(ports_[r]->post({&answer, 1}).sends, 1U);
  }
  for (const Rank rank : others_) {
    EXPECT_EQ(arrived(*ports_[0], rank).data(), output.data() + std::size_t{128} * (rank - 1));
    consume(*ports_[0], rank, 128);
  }
  EXPECT_EQ(output.front(), std::byte{1});
  EXPECT_EQ(output.back(), std::byte{2});
  EXPECT_TRUE(all_released()) << "the descriptors said that the data was read";
}

}  // namespace
}  // namespace tutti::test
