#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/memory.hpp>

#include "support/errors.hpp"
#include "transport/memory/shared_heap.hpp"
#include "transport/memory/size_class.hpp"

namespace tutti::test {
namespace {

constexpr std::uint64_t page_bytes = SizeClass::page;

TEST(SizeClass, WastesAtMostAQuarter) {
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < SizeClass::count; ++i) {
    const std::uint64_t bytes = SizeClass(i).bytes();
    ASSERT_EQ(bytes % page_bytes, 0U) << i;
    ASSERT_EQ(SizeClass::of(bytes).index(), i);
    ASSERT_EQ(SizeClass::of(before + 1).index(), i);
    if (i >= 4) {
      ASSERT_LE(bytes - (before + page_bytes), (before + page_bytes) / 4)
          << "for one page more than " << before;
    }
    before = bytes;
  }
  EXPECT_EQ(SizeClass::of(0).bytes(), page_bytes);
  EXPECT_GT(before, std::uint64_t{1} << 47);
}

BlockCache& cache() { return SharedHeap::own().cache(); }

TEST(BlockCache, KeepsBlocksWithTheirPages) {
  constexpr std::size_t bytes = 3 << 20;
  void* const memory = cache().acquire(bytes);
  std::memset(memory, 7, bytes);
  cache().release(memory);
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 100; ++i) {
    auto* const again = static_cast<const char*>(cache().acquire(bytes - 1000 * i));
    ASSERT_EQ(again, memory);
    for (std::size_t at = 0; at < bytes; at += page_bytes) ASSERT_EQ(again[at], 7);
    cache().release(memory);
  }
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 50);
}

TEST(BlockCache, CountsBytes) {
  cache().trim(0);
  const BlockCache::Use before = cache().use();
  EXPECT_EQ(before.idle, 0U);
  void* const memory = cache().acquire(9 * page_bytes);
  EXPECT_EQ(cache().bytes_of(memory), 10 * page_bytes);
  EXPECT_EQ(cache().use().in_use, before.in_use + 10 * page_bytes);
  cache().release(memory);
  EXPECT_EQ(cache().use().in_use, before.in_use);
  EXPECT_EQ(cache().use().idle, 10 * page_bytes);
  cache().trim(10 * page_bytes);
  EXPECT_EQ(cache().use().idle, 10 * page_bytes);
  cache().trim(10 * page_bytes - 1);
  EXPECT_EQ(cache().use().idle, 0U);
}

TEST(BlockCache, TrimReturnsPagesToTheSystem) {
  constexpr std::size_t bytes = 1 << 20;
  void* const memory = cache().acquire(bytes);
  std::memset(memory, 7, bytes);
  cache().release(memory);
  cache().trim(0);
  EXPECT_EQ(cache().bytes_of(memory), 0U);
  auto* const zeroed = static_cast<char*>(allocate(bytes));
  for (std::size_t at = 0; at < bytes; at += page_bytes) ASSERT_EQ(zeroed[at], 0);
  deallocate(zeroed);
}

TEST(BlockCache, AllocateIsZeroedBesideKeptBlocks) {
  constexpr std::size_t bytes = 1 << 20;
  for (int i = 0; i < 3; ++i) {
    void* const kept = allocate_uninitialized(bytes);
    std::memset(kept, 7, bytes);
    deallocate(kept);
    auto* const zeroed = static_cast<char*>(allocate(bytes));
    for (std::size_t at = 0; at < bytes; at += page_bytes) ASSERT_EQ(zeroed[at], 0);
    std::memset(zeroed, 7, bytes);
    deallocate(zeroed);
  }
}

TEST(BlockCache, EvictsWhatWasNotUsedLately) {
  cache().trim(0);
  std::vector<void*> blocks;
  for (const std::size_t pages : {50, 60, 70})
    blocks.push_back(cache().acquire(pages * page_bytes));
  for (void* const each : blocks) cache().release(each);
  void* const used = cache().acquire(50 * page_bytes);
  cache().release(used);
  cache().trim(56 * page_bytes);  // Their classes: 56, 64 and 80 pages.
  EXPECT_EQ(cache().use().idle, 56 * page_bytes);
  EXPECT_EQ(cache().bytes_of(used), 56 * page_bytes);
  cache().trim(0);
}

TEST(BlockCache, RefusesWhatIsNotInUse) {
  void* const memory = allocate_uninitialized(page_bytes);
  EXPECT_EQ(allocated_bytes(memory), page_bytes);
  EXPECT_EQ(allocated_bytes(static_cast<char*>(memory) + 64), 0U);
  deallocate(memory);
  expect_error([&] { deallocate(memory); }, ErrorCode::invalid_argument, "freed before");
  trim_memory();
  expect_error([&] { deallocate(memory); }, ErrorCode::invalid_argument, "tutti::allocate");
  int local = 0;
  EXPECT_EQ(allocated_bytes(&local), 0U);
  expect_error([&] { deallocate(&local); }, ErrorCode::invalid_argument, "tutti::allocate");
  for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} / 2, ~std::size_t{0} - 4096}) {
    expect_error([&] { (void)allocate_uninitialized(bytes); }, ErrorCode::unsupported, "no room");
  }
}

TEST(BlockCache, DoesNotKeepBlocksWithPrivatePages) {
  SharedHeap& heap = SharedHeap::own();
  cache().trim(0);
  auto* const memory = static_cast<std::byte*>(cache().acquire(4 * page_bytes));
  ASSERT_TRUE(heap.make_private({memory + page_bytes, page_bytes}));
  cache().release(memory);
  EXPECT_EQ(cache().use().idle, 0U);
  auto* const again = static_cast<std::byte*>(cache().acquire(4 * page_bytes));
  EXPECT_TRUE(heap.offset_of({again, 4 * page_bytes}));
  cache().release(again);
}

TEST(BlockCache, ServesSeveralThreads) {
  const auto work = [](unsigned seed) {
    std::vector<std::pair<unsigned char*, std::size_t>> held;
    for (unsigned i = 0; i < 20000; ++i) {
      seed = seed * 1664525 + 1013904223;
      const auto mark = static_cast<unsigned char>(seed >> 8);
      if (held.size() == 20 || (!held.empty() && seed >> 31 == 0)) {
        auto& [memory, bytes] = held[(seed >> 16) % held.size()];
        ASSERT_EQ(memory[0], memory[bytes - 1]) << "another thread has written there";
        cache().release(memory);
        held.erase(held.begin() + (seed >> 16) % held.size());
      } else {
        const std::size_t bytes = page_bytes * (1 + (seed >> 20) % 8);
        auto* const memory = static_cast<unsigned char*>(cache().acquire(bytes));
        memory[0] = memory[bytes - 1] = mark;
        held.emplace_back(memory, bytes);
      }
      if (i % 1000 == 0) cache().trim(20 * page_bytes);
    }
    for (const auto& [memory, bytes] : held) cache().release(memory);
  };
  const std::uint64_t before = cache().use().in_use;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i + 1);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(cache().use().in_use, before);
}

TEST(BlockCache, ForkedChildLeavesBlocksOfItsParentAlone) {
  auto* const memory = static_cast<char*>(allocate_uninitialized(page_bytes));
  std::strcpy(memory, "parent");
  void* const idle = allocate_uninitialized(page_bytes);
  deallocate(idle);
  const pid_t child = fork();
  if (child == 0) {
    const bool knows = allocated_bytes(memory) == page_bytes;
    deallocate(memory);
    auto* const mine = static_cast<char*>(allocate_uninitialized(page_bytes));
    const bool is_apart = mine != idle && mine != memory;
    std::strcpy(mine, "child");
    deallocate(mine);
    const bool is_kept = allocate_uninitialized(page_bytes) == mine;
    _exit(knows && is_apart && is_kept ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_STREQ(memory, "parent");
  deallocate(memory);
}

TEST(Vector, IsInSharedMemory) {
  Vector<float> numbers(1000, 1.5F);
  EXPECT_TRUE(SharedHeap::own().offset_of(std::as_bytes(std::span(numbers))));
  for (int i = 0; i < 100000; ++i) numbers.push_back(static_cast<float>(i));
  EXPECT_TRUE(SharedHeap::own().offset_of(std::as_bytes(std::span(numbers))));
  EXPECT_EQ(numbers[999], 1.5F);
  EXPECT_EQ(numbers[100999], 99999.0F);
  const Vector<float> copy = numbers;
  EXPECT_EQ(copy, numbers);
}

}  // namespace
}  // namespace tutti::test
