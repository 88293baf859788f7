// Data that is copied once: the receiver fetches it from the sender's private memory.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/forked_child.hpp"
#include "support/port_streams.hpp"
#include "transport/memory_ports.hpp"
#include "transport/shm/cross_memory.hpp"

namespace tutti::test {
namespace {

/// No memory is shared. All ranks are in one process, so a plain copy stands for the kernel's.
class PrivateView final : public SharedView {
 public:
  std::optional<Published> publish(std::span<const std::byte> /*data*/,
                                   const CallMemory* /*memory*/) override {
    return {};
  }
  const std::byte* resolve(std::uint32_t /*local*/, std::uint64_t /*where*/) override {
    return nullptr;
  }
  std::byte* resolve_to_write(std::uint32_t /*local*/, std::uint64_t /*where*/) override {
    return nullptr;
  }
  std::byte* own(std::uint64_t /*where*/, std::size_t /*bytes*/,
                 const CallMemory* /*memory*/) override {
    return nullptr;
  }
  bool revoke(std::span<std::byte> /*data*/) override { return false; }
  bool can_be_fetched(std::span<const std::byte> /*data*/) override { return is_permitted; }
  void fetch(std::uint32_t /*local*/, std::uint64_t address, std::span<std::byte> to) override {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a descriptor carries a number.
    std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
    fetched += to.size();
  }

  bool is_permitted = true;
  std::size_t fetched = 0;
};

/// Ranks 0 and 1 send to rank 2. All are in one thread.
class SingleCopy : public ::testing::Test {
 protected:
  SingleCopy() {
    for (const std::uint32_t sender : {0U, 1U}) begin(sender, 2048, 0);
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<std::byte>(i / 7);
  }

  void begin(std::uint32_t rank, std::size_t zero_copy_from, std::size_t single_copy_from) {
    ports_[rank]->begin(1,
                        {.zero_copy_from = zero_copy_from, .single_copy_from = single_copy_from});
  }
  [[nodiscard]] std::size_t send(std::uint32_t from, std::size_t bytes) {
    return test::send(*ports_[from], two_, std::span<const std::byte>(data_).first(bytes));
  }
  [[nodiscard]] bool is_released(std::uint32_t from) {
    return test::is_released(*ports_[from], two_);
  }
  [[nodiscard]] Port& receiver() { return *ports_[2]; }

  PrivateView view_;
  MemoryPorts ports_{3, view_};
  std::vector<std::byte> data_ = std::vector<std::byte>(300'000);
  const Rank two_{2};
};

TEST_F(SingleCopy, IsMadeStraightIntoTheReceiversBuffer) {
  ASSERT_EQ(send(0, data_.size()), data_.size());
  EXPECT_EQ(view_.fetched, 0U);
  std::vector<std::byte> output(data_.size());
  std::size_t done = 0;
  for (const std::size_t most : {64U, 100'032U, 1'000'000U}) {
    EXPECT_FALSE(is_released(0));
    const std::size_t room = std::min<std::size_t>(most, output.size() - done);
    ASSERT_EQ(receive(receiver(), Rank{0}, std::span(output).subspan(done, room)), room);
    done += room;
  }
  EXPECT_EQ(output, data_);
  EXPECT_EQ(view_.fetched, data_.size());
  EXPECT_TRUE(is_released(0));
  EXPECT_EQ(receive(receiver(), Rank{0}, output), 0U);
}

TEST_F(SingleCopy, GivesOperandsInPieces) {
  for (const std::uint32_t from : {0U, 1U}) ASSERT_EQ(send(from, data_.size()), data_.size());
  const std::array<Rank, 2> from{Rank{0}, Rank{1}};
  std::array<const void*, 2> operands{};
  for (std::size_t done = 0; done < data_.size();) {
    std::size_t bytes = receiver().poll(from, {}, operands.data(), {});
    ASSERT_GT(bytes, 0U);
    EXPECT_TRUE(bytes % 64 == 0 || done + bytes == data_.size()) << bytes;
    if (bytes > 1024) bytes -= 1024;  // Not all of it at once.
    for (const void* const operand : operands) {
      EXPECT_EQ(std::memcmp(operand, data_.data() + done, bytes), 0) << done;
    }
    receiver().consume(from, bytes);
    done += bytes;
  }
  EXPECT_EQ(view_.fetched, 2 * data_.size());
  EXPECT_TRUE(is_released(0));
  EXPECT_TRUE(is_released(1));
}

/// What was fetched for one look at it is used by a later receive.
TEST_F(SingleCopy, FetchesNothingTwice) {
  ASSERT_EQ(send(0, data_.size()), data_.size());
  ASSERT_GT(arrived(receiver(), Rank{0}).size(), 0U);
  std::vector<std::byte> output;
  while (output.size() < data_.size()) {
    const std::size_t before = output.size();
    output.resize(data_.size());
    const std::size_t got = receive(receiver(), Rank{0}, std::span(output).subspan(before));
    ASSERT_GT(got, 0U);
    output.resize(before + got);
  }
  EXPECT_EQ(output, data_);
  EXPECT_EQ(view_.fetched, data_.size());
}

TEST_F(SingleCopy, IsNotMadeOfOtherData) {
  const auto is_staged = [&](std::size_t bytes) {
    const std::size_t sent = send(0, bytes);
    std::vector<std::byte> output(sent);
    return sent > 0 && is_released(0) && receive(receiver(), Rank{0}, output) == sent &&
           std::equal(output.begin(), output.end(), data_.begin());
  };
  EXPECT_TRUE(is_staged(4096)) << "too short";
  begin(0, ~std::size_t{0}, 0);
  EXPECT_TRUE(is_staged(20'000)) << "nothing is to be read in place";
  begin(0, 2048, 0);
  view_.is_permitted = false;
  EXPECT_TRUE(is_staged(20'000)) << "the system does not permit it";
  view_.is_permitted = true;
  begin(0, 2048, 20'001);
  EXPECT_TRUE(is_staged(20'000)) << "not allowed";
  EXPECT_EQ(view_.fetched, 0U);
  begin(0, 2048, 20'000);
  EXPECT_FALSE(is_staged(20'000));
}

/// A child that waits to be killed.
std::string sleep_for_ever() {
  while (true) pause();
}

TEST(CrossMemory, ReadsAnotherProcess) {
  std::vector<std::byte> data(100'000, std::byte{7});
  const CrossMemory::Beacon beacon;
  ForkedChild child(sleep_for_ever);
  // From here on the two processes differ.
  const auto address = reinterpret_cast<std::uint64_t>(data.data());
  std::fill(data.begin(), data.end(), std::byte{8});
  if (!CrossMemory::can_see(child.pid(), beacon.sight())) GTEST_SKIP() << "not permitted here";
  const CrossMemory memory({getpid(), child.pid()});
  std::vector<std::byte> read(data.size());
  memory.read(1, address, read);
  EXPECT_TRUE(std::all_of(read.begin(), read.end(), [](std::byte b) { return b == std::byte{7}; }));
  memory.read(0, address, read);
  EXPECT_EQ(read, data);
  child.kill();
  (void)child.wait();
  expect_error([&] { memory.read(1, address, read); }, ErrorCode::peer_lost,
               "cannot read the memory of process");
}

TEST(CrossMemory, BeaconOfAnotherProcessIsNotSeen) {
  const CrossMemory::Beacon beacon;
  ASSERT_TRUE(CrossMemory::can_see(getpid(), beacon.sight()));
  CrossMemory::Beacon::Sight other = beacon.sight();
  ++other.value;
  EXPECT_FALSE(CrossMemory::can_see(getpid(), other));
  ForkedChild child([] { return std::string(); });
  (void)child.wait();
  EXPECT_FALSE(CrossMemory::can_see(child.pid(), beacon.sight()));
  EXPECT_FALSE(CrossMemory::can_see(getpid(), {.address = 8, .value = 1}));
  EXPECT_FALSE(CrossMemory::can_see(getpid(), {}));
}

TEST(CrossMemory, ReportsMemoryThatIsGone) {
  const auto page = static_cast<std::size_t>(getpagesize());
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const std::span<const std::byte> data(static_cast<const std::byte*>(pages), 2 * page);
  EXPECT_TRUE(CrossMemory::can_be_read(data));
  ASSERT_EQ(munmap(static_cast<std::byte*>(pages) + page, page), 0);
  EXPECT_FALSE(CrossMemory::can_be_read(data));
  std::vector<std::byte> read(2 * page);
  expect_error(
      [&] { CrossMemory({getpid()}).read(0, reinterpret_cast<std::uint64_t>(pages), read); },
      ErrorCode::peer_lost, "cannot read the memory of process");
  munmap(pages, page);
}

}  // namespace
}  // namespace tutti::test
