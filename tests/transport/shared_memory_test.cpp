#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "transport/memory/shared_heap.hpp"
#include "transport/shm/heap_view.hpp"
#include "transport/shm/segment.hpp"

namespace tutti::test {
namespace {

TEST(Segment, OpenMapsTheSameMemory) {
  Segment made = Segment::create(10000);
  const Segment opened = Segment::open(made.address());
  ASSERT_NE(opened.data(), made.data());
  for (std::size_t i = 0; i < 10000; ++i) ASSERT_EQ(made.data()[i], std::byte{0});
  std::memcpy(made.data() + 5000, "here", 4);
  EXPECT_EQ(std::memcmp(opened.data() + 5000, "here", 4), 0);
}

TEST(Segment, CannotBeOpenedAfterCloseDoor) {
  Segment made = Segment::create(100);
  const Segment::Address address = made.address();
  made.close_door();
  expect_error([&] { (void)Segment::open(address); }, ErrorCode::unsupported, "/proc/");
}

TEST(Segment, OpenRejectsWrongTokenOrSize) {
  const Segment made = Segment::create(100);
  Segment::Address address = made.address();
  address.token[3] = address.token[3] == 'x' ? 'y' : 'x';
  expect_error([&] { (void)Segment::open(address); }, ErrorCode::unsupported,
               "not the expected segment");
  address = made.address();
  address.bytes = 200;
  expect_error([&] { (void)Segment::open(address); }, ErrorCode::unsupported,
               "not the expected segment");
}

std::span<const std::byte> bytes(const void* memory, std::size_t count) {
  return {static_cast<const std::byte*>(memory), count};
}

TEST(SharedHeap, OffsetOfOnlyItsOwnMemory) {
  SharedHeap& heap = SharedHeap::own();
  void* const memory = heap.allocate(10000);
  EXPECT_TRUE(heap.offset_of(bytes(memory, 10000)));
  int local = 0;
  EXPECT_FALSE(heap.offset_of(bytes(&local, sizeof local)));
  EXPECT_FALSE(heap.offset_of(bytes(memory, std::size_t{1} << 40))) << "beyond its end";
  heap.release(memory);
}

TEST(SharedHeap, PrivatePagesIgnoreWritesOfOtherProcesses) {
  SharedHeap& heap = SharedHeap::own();
  constexpr std::size_t count = 10000;
  auto* const memory = static_cast<std::byte*>(heap.allocate(count));
  std::memset(memory, 1, count);
  // Maps the heap as another process would.
  HeapView view({{.pid = getpid(), .heap_fd = heap.fd(), .heap_file = heap.file()}}, 0);
  const auto published = view.publish(bytes(memory, count), nullptr);
  ASSERT_TRUE(published);
  std::byte* const elsewhere = view.resolve_to_write(0, published->where);
  ASSERT_NE(elsewhere, memory);
  std::memset(elsewhere, 2, 100);
  EXPECT_EQ(memory[99], std::byte{2}) << "shared so far";
  ASSERT_TRUE(view.revoke({memory + 5000, 100}));
  std::memset(elsewhere, 3, count);
  EXPECT_EQ(memory[99], std::byte{3}) << "another page";
  EXPECT_EQ(memory[5000], std::byte{1}) << "keeps its contents";
  EXPECT_FALSE(heap.offset_of(bytes(memory, count))) << "not visible as a whole any more";
  EXPECT_TRUE(heap.offset_of(bytes(memory, 100)));
  heap.release(memory);
  auto* const again = static_cast<std::byte*>(heap.allocate(count));
  EXPECT_TRUE(heap.offset_of(bytes(again, count)));
  std::memset(elsewhere, 4, count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(again[i], std::byte{0}) << "a late write";
  heap.release(again);
}

TEST(SharedHeap, ReusesReleasedMemory) {
  SharedHeap& heap = SharedHeap::own();
  std::vector<void*> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back(heap.allocate(static_cast<std::size_t>(i) * 3000));
  std::memset(blocks[20], 0xFF, 60000);
  const auto file_bytes = [&] {
    struct stat facts {};
    fstat(heap.fd(), &facts);
    return facts.st_size;
  };
  const auto before = file_bytes();
  for (std::size_t i = 0; i < blocks.size(); i += 2) heap.release(blocks[i]);
  for (std::size_t i = 1; i < blocks.size(); i += 2) heap.release(blocks[i]);
  // All blocks are merged into one, and zeroed.
  auto* const all = static_cast<const std::byte*>(heap.allocate(3000000));
  EXPECT_EQ(file_bytes(), before);
  for (std::size_t i = 0; i < 3000000; i += 512) ASSERT_EQ(all[i], std::byte{0}) << i;
  heap.release(const_cast<std::byte*>(all));
  expect_error([&] { heap.release(blocks[1]); }, ErrorCode::invalid_argument, "tutti::allocate");
}

TEST(SharedHeap, ThrowsIfTooMuchIsRequested) {
  SharedHeap& heap = SharedHeap::own();
  constexpr std::size_t most = ~std::size_t{0};
  for (const std::size_t bytes : {most, most - 1, most - 4095, most - 4096, most / 2, most / 4}) {
    expect_error([&] { (void)heap.allocate(bytes); }, ErrorCode::unsupported,
                 "no room for " + std::to_string(bytes) + " bytes");
  }
  void* const one = heap.allocate(0);
  void* const other = heap.allocate(0);
  EXPECT_NE(one, other);
  heap.release(one);
  heap.release(other);
}

TEST(SharedHeap, IsReadInPlaceThroughHeapView) {
  SharedHeap& heap = SharedHeap::own();
  auto* const memory = static_cast<char*>(heap.allocate(5000));
  HeapView view({{.pid = getpid(), .heap_fd = heap.fd(), .heap_file = heap.file()}}, 0);
  const auto published = view.publish(bytes(memory + 100, 50), nullptr);
  ASSERT_TRUE(published);
  EXPECT_EQ(published->bytes, 50U);
  std::memcpy(memory + 100, "hello", 5);
  EXPECT_EQ(std::memcmp(view.resolve(0, published->where), "hello", 5), 0);
  int local = 0;
  EXPECT_FALSE(view.publish(bytes(&local, sizeof local), nullptr));
  heap.release(memory);
}

TEST(SharedHeap, ForkedChildHasItsOwnHeap) {
  void* const memory = SharedHeap::own().allocate(100);
  const pid_t child = fork();
  if (child == 0) {
    SharedHeap& heap = SharedHeap::own();
    const bool apart = !heap.offset_of(bytes(memory, 100));
    auto* const mine = static_cast<char*>(heap.allocate(100));
    std::strcpy(mine, "child");
    _exit(apart ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*static_cast<char*>(memory), '\0');
  SharedHeap::own().release(memory);
}

}  // namespace
}  // namespace tutti::test
