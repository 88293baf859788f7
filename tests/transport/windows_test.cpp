// Windows: receive buffers that the sender writes to by itself.
#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "transport/inproc/thread_view.hpp"
#include "transport/memory_ports.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t length = 4096;

/// Rank 1 sends data and exposes a window with it; rank 0 writes to the window. Both are in one
/// thread.
class Windows : public ::testing::Test {
 protected:
  /// Exposes the output with a send of the input.
  void expose(std::uint64_t at, std::optional<std::uint64_t> after = {}) {
    ports_[1]->expose(zero_, {.memory = output_, .at = at, .after = after});
    ASSERT_EQ(ports_[1]->send({&zero_, 1}, input_), length);
  }

  [[nodiscard]] bool find(std::size_t bytes, std::size_t reading = 0) {
    return ports_[0]->find_windows({&one_, 1}, bytes, reading, windows_);
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
  ports_[1]->expose(zero_, {.memory = output_, .at = 0});
  ASSERT_EQ(ports_[1]->send({&zero_, 1}, std::span(input_).first(8)), 8U);
  constexpr std::size_t short_but_not_enclosed = 512;
  const std::span<const std::byte> next = std::span(input_).first(short_but_not_enclosed);
  ASSERT_EQ(ports_[1]->send({&zero_, 1}, next), next.size());
  EXPECT_EQ(ports_[1]->released(zero_), 8 + next.size()) << "it has been copied";
  ports_[0]->consume(one_, ports_[0]->arrived(one_).size());
  EXPECT_NE(ports_[0]->arrived(one_).data(), input_.data());
  EXPECT_FALSE(find(8));
}

TEST_F(Windows, DataIsWrittenWhereTheReceiverWantsIt) {
  expose(0);
  ASSERT_FALSE(ports_[0]->arrived(one_).empty());
  ASSERT_TRUE(find(1024));
  EXPECT_EQ(windows_.front(), output_.data());
  std::memset(windows_.front(), 7, 1024);
  ports_[0]->put({&one_, 1}, 1024);
  ASSERT_TRUE(find(1024));
  EXPECT_EQ(windows_.front(), output_.data() + 1024) << "the next bytes of the stream";
  ports_[0]->put({&one_, 1}, 1024);
  EXPECT_EQ(ports_[1]->receive(zero_, std::span(output_).first(2048)), 1024U);
  EXPECT_EQ(output_[1023], std::byte{7});
  EXPECT_EQ(output_[2048], std::byte{2}) << "nothing is copied";
}

TEST_F(Windows, NoneBeforeTheSendThatExposesIt) {
  EXPECT_FALSE(find(64));
  expose(0);
  EXPECT_FALSE(find(64)) << "the note has not been read";
}

TEST_F(Windows, NoneForOtherBytesOfTheStream) {
  expose(128);
  ASSERT_FALSE(ports_[0]->arrived(one_).empty());
  EXPECT_FALSE(find(64)) << "the first 128 bytes are sent otherwise";
  ASSERT_EQ(ports_[0]->send({&one_, 1}, std::span(input_).first(128)), 128U);
  EXPECT_TRUE(find(length));
  ports_[0]->put({&one_, 1}, length);
  EXPECT_FALSE(find(64)) << "the window is full";
}

TEST_F(Windows, IsNotWrittenBeforeItsOldContentsAreRead) {
  expose(0, 0);  // Byte x may be written once byte x of the input is consumed.
  ASSERT_FALSE(ports_[0]->arrived(one_).empty());
  EXPECT_FALSE(find(64));
  ASSERT_TRUE(find(64, 64)) << "the caller reads them now";
  ports_[0]->consume(one_, 64);
  ports_[0]->put({&one_, 1}, 64);
  EXPECT_FALSE(find(128, 64)) << "only half of them";
  ports_[0]->consume(one_, 128);
  ASSERT_TRUE(find(128));
  ports_[0]->put({&one_, 1}, 128);
}

TEST_F(Windows, RankThatGivesUpWaitsForTheWriter) {
  expose(0);
  ASSERT_FALSE(ports_[0]->arrived(one_).empty());
  ASSERT_TRUE(find(64));
  ports_[0]->stand_down();  // So that only the window counts.
  ports_[1]->abandon();
  ports_[1]->stand_down();
  EXPECT_TRUE(ports_[1]->is_lending(nobody_gone_));
  EXPECT_FALSE(ports_[1]->is_lending([](Rank) { return true; })) << "a dead rank does not write";
  ports_[0]->put({&one_, 1}, 64);
  EXPECT_FALSE(ports_[1]->is_lending(nobody_gone_));
}

TEST_F(Windows, NoWritesToARankThatHasGivenUp) {
  expose(0);
  ASSERT_FALSE(ports_[0]->arrived(one_).empty());
  ports_[1]->abandon();
  ports_[1]->stand_down();
  expect_error([&] { (void)find(64); }, ErrorCode::peer_lost, "rank 1 has given up");
  ports_[0]->stand_down();
  EXPECT_FALSE(ports_[1]->is_lending(nobody_gone_)) << "the writer has stopped";
}

}  // namespace
}  // namespace tutti::test
