// Windows: receive buffers that the sender writes to by itself.
#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/port_streams.hpp"
#include "transport/inproc/thread_view.hpp"
#include "transport/memory_ports.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t length = 4096;

/// Rank 1 sends data and announces a window with it; rank 0 writes to the window. Both are in one
/// thread.
class Windows : public ::testing::Test {
 protected:
  /// Exposes the output with a send of the input.
  void expose(std::uint64_t at, std::optional<std::int64_t> after = {}) {
    ASSERT_EQ(announce(input_, {.memory = output_, .at = at, .after = after}), 1U);
  }
  [[nodiscard]] std::size_t announce(std::span<const std::byte> data, const Port::Window& window) {
    const Port::Send send{
        .peers = {&zero_, 1}, .data = data, .message = data.size(), .window = &window};
    return ports_[1]->post({&send, 1}).sends;
  }

  [[nodiscard]] bool find(std::size_t bytes, std::size_t reading = 0) {
    const Port::Send send = answer(bytes);
    return ports_[0]->prepare(send, reading, false, windows_) == Port::Copies::put;
  }
  /// Says that so many bytes are in the window.
  void put(std::size_t bytes) {
    Port::Send send = answer(bytes);
    send.is_prepared = true;
    ASSERT_EQ(ports_[0]->post({&send, 1}).sends, 1U);
  }
  [[nodiscard]] Port::Send answer(std::size_t bytes) const {
    return {.peers = {&one_, 1},
            .data = std::span<const std::byte>(input_).first(bytes),
            .message = bytes};
  }

  ThreadView view_;
  MemoryPorts ports_{2, view_};
  std::vector<std::byte> input_ = std::vector<std::byte>(length, std::byte{1});
  std::vector<std::byte> output_ = std::vector<std::byte>(length, std::byte{2});
  std::vector<std::byte*> windows_;
  const Rank zero_{0};
  const Rank one_{1};
  const std::function<bool(Rank)> nobody_gone_ = [](Rank) { return false; };
};

/// A short message has no room for a window. What is sent later is not lent because of it: its
/// sender would not wait until it has been read.
TEST_F(Windows, GoWithOneMessageOnly) {
  ASSERT_EQ(announce(std::span(input_).first(8), {.memory = output_}), 1U);
  constexpr std::size_t short_but_not_inline = 512;
  const std::span<const std::byte> next = std::span(input_).first(short_but_not_inline);
  ASSERT_EQ(send(*ports_[1], zero_, next), next.size());
  EXPECT_TRUE(is_released(*ports_[1], zero_)) << "it has been copied";
  consume(*ports_[0], one_, arrived(*ports_[0], one_).size());
  EXPECT_NE(arrived(*ports_[0], one_).data(), input_.data());
  EXPECT_FALSE(find(8));
}

TEST_F(Windows, DataIsWrittenWhereTheReceiverWantsIt) {
  expose(0);
  ASSERT_FALSE(arrived(*ports_[0], one_).empty());
  ASSERT_TRUE(find(1024));
  EXPECT_EQ(windows_.front(), output_.data());
  std::memset(windows_.front(), 7, 1024);
  put(1024);
  ASSERT_TRUE(find(1024));
  EXPECT_EQ(windows_.front(), output_.data() + 1024) << "the next bytes of the stream";
  put(1024);
  EXPECT_EQ(receive(*ports_[1], zero_, std::span(output_).first(2048)), 1024U);
  EXPECT_EQ(output_[1023], std::byte{7});
  EXPECT_EQ(output_[2048], std::byte{2}) << "nothing is copied";
}

TEST_F(Windows, NoneBeforeTheSendThatExposesIt) {
  EXPECT_FALSE(find(64));
  expose(0);
  EXPECT_FALSE(find(64)) << "the descriptor has not been read";
}

TEST_F(Windows, NoneForOtherBytesOfTheStream) {
  expose(128);
  ASSERT_FALSE(arrived(*ports_[0], one_).empty());
  EXPECT_FALSE(find(64)) << "the first 128 bytes are sent otherwise";
  ASSERT_EQ(send(*ports_[0], one_, std::span(input_).first(128)), 128U);
  EXPECT_TRUE(find(length));
  put(length);
  EXPECT_FALSE(find(64)) << "the window is full";
}

TEST_F(Windows, IsNotWrittenBeforeItsOldContentsAreRead) {
  expose(0, 0);  // Byte x may be written once byte x of the input is consumed.
  ASSERT_FALSE(arrived(*ports_[0], one_).empty());
  EXPECT_FALSE(find(64));
  ASSERT_TRUE(find(64, 64)) << "the caller reads them now";
  consume(*ports_[0], one_, 64);
  put(64);
  EXPECT_FALSE(find(128, 64)) << "only half of them";
  consume(*ports_[0], one_, 128);
  ASSERT_TRUE(find(128));
  put(128);
}

TEST_F(Windows, RankThatGivesUpWaitsForTheWriter) {
  expose(0);
  ASSERT_FALSE(arrived(*ports_[0], one_).empty());
  ASSERT_TRUE(find(64));
  ports_[0]->revoke();  // So that only the window counts.
  ports_[1]->revoke();
  EXPECT_TRUE(ports_[1]->is_exposed(nobody_gone_));
  EXPECT_FALSE(ports_[1]->is_exposed([](Rank) { return true; })) << "a dead rank does not write";
  put(64);
  EXPECT_FALSE(ports_[1]->is_exposed(nobody_gone_));
}

TEST_F(Windows, NoWritesToARankThatHasGivenUp) {
  expose(0);
  ASSERT_FALSE(arrived(*ports_[0], one_).empty());
  ports_[1]->revoke();
  expect_error([&] { (void)find(64); }, ErrorCode::peer_lost, "rank 1 has given up");
  ports_[0]->revoke();
  EXPECT_FALSE(ports_[1]->is_exposed(nobody_gone_)) << "the writer has stopped";
}

}  // namespace
}  // namespace tutti::test
