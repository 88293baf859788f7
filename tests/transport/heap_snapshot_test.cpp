#include "transport/memory/heap_snapshot.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/memory.hpp>

#include "transport/memory/shared_heap.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t one_page = 4096;

/// Runs `child` in a forked process after `parent` has returned. Returns its exit code.
template <class Child, class Parent>
int fork_and_change(Child&& child, Parent&& parent) {
  int go[2];
  if (pipe(go) != 0) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    char byte = 0;
    if (read(go[0], &byte, 1) != 1) _exit(100);
    _exit(child());
  }
  parent();
  EXPECT_EQ(write(go[1], "x", 1), 1);
  int status = 0;
  waitpid(pid, &status, 0);
  close(go[0]);
  close(go[1]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(HeapSnapshot, ForkedChildSeesWhatWasThereAtTheFork) {
  auto* const zeroed = static_cast<char*>(allocate(3 * one_page));
  auto* const cached = static_cast<char*>(allocate_uninitialized(1 << 20));
  auto* const untouched = static_cast<char*>(allocate(one_page));
  std::memset(zeroed, 1, 3 * one_page);
  std::memset(cached, 1, 1 << 20);
  const auto child = [&] {
    if (zeroed[0] != 1 || zeroed[3 * one_page - 1] != 1) return 1;
    if (cached[0] != 1 || cached[(1 << 20) - 1] != 1) return 2;
    if (untouched[0] != 0) return 3;
    std::memset(cached, 3, 1 << 20);
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(cached[5] == 3 && zeroed[5] == 1 ? 0 : 1);
    std::memset(cached, 4, 1 << 20);
    int status = 0;
    waitpid(grandchild, &status, 0);
    return status == 0 ? 0 : 4;
  };
  const auto parent = [&] {
    std::memset(zeroed, 2, 3 * one_page);
    std::memset(cached, 2, 1 << 20);
    std::memset(untouched, 2, one_page);
  };
  EXPECT_EQ(fork_and_change(child, parent), 0);
  EXPECT_EQ(zeroed[0], 2);
  EXPECT_EQ(cached[0], 2) << "the child has written to its copy only";
  for (char* const each : {zeroed, cached, untouched}) deallocate(each);
}

TEST(HeapSnapshot, PagesThatWereCutOffStayAsTheyAre) {
  SharedHeap& heap = SharedHeap::own();
  auto* const memory = static_cast<char*>(heap.allocate(3 * one_page));
  std::memset(memory, 1, 3 * one_page);
  ASSERT_TRUE(heap.make_private({reinterpret_cast<std::byte*>(memory) + one_page, one_page}));
  memory[one_page] = 5;
  const int code = fork_and_change(
      [&] { return memory[0] == 1 && memory[one_page] == 5 && memory[2 * one_page] == 1 ? 0 : 1; },
      [&] { std::memset(memory, 2, 3 * one_page); });
  EXPECT_EQ(code, 0);
  heap.release(memory);
}

TEST(HeapSnapshot, ForkCopiesNoIdleBlocksAndNoHoles) {
  trim_memory();
  void* const idle = allocate_uninitialized(64 << 20);
  std::memset(idle, 1, 64 << 20);
  deallocate(idle);
  auto* const sparse = static_cast<char*>(allocate(64 << 20));
  sparse[0] = 1;
  struct stat before {};
  fstat(SharedHeap::own().fd(), &before);
  const int code = fork_and_change(
      [&] {
        // Resident pages of the child that are not shared with a file.
        long pages = 0;
        long resident = 0;
        long shared = 0;
        FILE* const file = std::fopen("/proc/self/statm", "r");
        if (std::fscanf(file, "%ld %ld %ld", &pages, &resident, &shared) != 3) return 1;
        return sparse[0] == 1 && (resident - shared) * 4096 < 32 << 20 ? 0 : 2;
      },
      [] {});
  EXPECT_EQ(code, 0);
  struct stat after {};
  fstat(SharedHeap::own().fd(), &after);
  EXPECT_EQ(after.st_blocks, before.st_blocks) << "the holes are still holes";
  deallocate(sparse);
  trim_memory();
}

TEST(HeapSnapshot, CopiesTheShortestBlocksFirst) {
  const int file = memfd_create("tutti-test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 8 * one_page), 0);
  const auto map = [&](int flags) {
    return static_cast<std::byte*>(
        mmap(nullptr, 8 * one_page, PROT_READ | PROT_WRITE, flags, file, 0));
  };
  std::byte* const parent = map(MAP_SHARED);
  std::memset(parent, 1, 8 * one_page);
  std::byte* const child = map(MAP_PRIVATE);
  using Range = HeapSnapshot::Range;
  const std::vector<Range> blocks{Range{0, 3 * one_page}, Range{3 * one_page, one_page},
                                  Range{4 * one_page, 2 * one_page}};
  auto snapshot =
      HeapSnapshot::of(file, 8 * one_page, blocks, {Range{7 * one_page, one_page}}, 3 * one_page);
  ASSERT_TRUE(snapshot);
  std::memset(parent, 2, 8 * one_page);
  snapshot->replace(child);
  snapshot.reset();
  EXPECT_EQ(child[0], std::byte{2}) << "beyond the limit";
  EXPECT_EQ(child[3 * one_page], std::byte{1});
  EXPECT_EQ(child[4 * one_page], std::byte{1});
  EXPECT_EQ(child[6 * one_page], std::byte{0}) << "not in use";
  EXPECT_EQ(child[7 * one_page], std::byte{2}) << "not touched";
  munmap(parent, 8 * one_page);
  munmap(child, 8 * one_page);
  close(file);
}

TEST(HeapSnapshot, ForkWhileOtherThreadsAllocate) {
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) {
      void* const cached = allocate_uninitialized(40000);
      void* const zeroed = allocate(40000);
      deallocate(cached);
      deallocate(zeroed);
      trim_memory();
    }
  });
  auto* const memory = static_cast<char*>(allocate_uninitialized(100000));
  for (int i = 0; i < 20; ++i) {
    memory[0] = 1;
    EXPECT_EQ(fork_and_change([&] { return memory[0]; }, [&] { memory[0] = 2; }), 1);
  }
  is_over = true;
  other.join();
  deallocate(memory);
}

}  // namespace
}  // namespace tutti::test
