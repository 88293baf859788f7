#include "transport/memory/adopted_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "transport/adoption.hpp"
#include "transport/memory/call_memory.hpp"
#include "transport/memory/pages.hpp"

namespace tutti::test {
namespace {

TEST_F(Adoption, PeersReadAndWriteABufferThatIsUsedAgain) {
  alone([] {
    const Memory memory = made(usual);
    const std::span<std::byte> buffer(memory.get(), usual);
    EXPECT_EQ(use(buffer, 1).buffer(), nullptr) << "one use may be the only one";
    const AdoptedMemory::Hold hold = use(buffer);
    ASSERT_NE(hold.buffer(), nullptr);
    EXPECT_TRUE(all_are(buffer, 1)) << "keeps its contents";
    EXPECT_EQ(adopted().bytes(), usual);
    std::memset(buffer.data(), 2, usual);
    HeapView view = other_view();
    const std::uint64_t where = hold.buffer()->publish(buffer);
    std::byte* const elsewhere = view.resolve_to_write(0, where);
    EXPECT_TRUE(all_are({elsewhere, usual}, 2)) << "whole pages, and the rims of others";
    std::memset(elsewhere, 3, usual);
    EXPECT_TRUE(all_are(hold.buffer()->moved(), 3));
    EXPECT_EQ(buffer.front(), std::byte{2}) << "a rim, which has not been fetched";
    EXPECT_EQ(hold.buffer()->fetch(where, usual), buffer.data());
    EXPECT_TRUE(all_are(buffer, 3));
  });
}

TEST_F(Adoption, CopiesOnlyTheBytesOfTheRimsThatAreNamed) {
  alone([] {
    const Memory memory = made(usual);
    const std::span<std::byte> buffer(memory.get(), usual);
    const AdoptedMemory::Hold hold = use(buffer);
    ASSERT_NE(hold.buffer(), nullptr);
    const std::uint64_t where = hold.buffer()->publish(buffer);
    HeapView view = other_view();
    std::memset(view.resolve_to_write(0, where), 5, usual);
    EXPECT_EQ(hold.buffer()->fetch(where + 10, 20), buffer.data() + 10);
    EXPECT_TRUE(all_are(buffer.subspan(10, 20), 5));
    EXPECT_TRUE(all_are(buffer.first(10), 1));
    EXPECT_EQ(buffer[30], std::byte{1});
    EXPECT_EQ(hold.buffer()->fetch(where - 1, 20), nullptr);
    EXPECT_EQ(hold.buffer()->fetch(where + usual - 10, 20), nullptr);
  });
}

TEST_F(Adoption, NoticesThatABufferWasFreed) {
  alone([] {
    Memory memory = made(usual);
    const std::span<std::byte> buffer(memory.get(), usual);
    ASSERT_NE(use(buffer).buffer(), nullptr);
    memory.reset();
    EXPECT_EQ(adopted().hold(buffer).buffer(), nullptr) << "nothing is mapped there";
    const Memory again = made(usual, 7);
    if (again.get() == buffer.data()) {
      EXPECT_EQ(adopted().hold(buffer).buffer(), nullptr) << "another mapping at the same address";
    }
    EXPECT_EQ(adopted().bytes(), 0U);
  });
}

TEST_F(Adoption, KeepsItsPagesIfTheProgramClosesAllFiles) {
  alone([] {
    const Memory memory = made(usual, 4);
    const std::span<std::byte> buffer(memory.get(), usual);
    ASSERT_NE(use(buffer).buffer(), nullptr);
    // As a program does that closes all descriptors that it does not know.
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      const auto target = std::filesystem::read_symlink(each.path(), ignored);
      if (target.filename() == "maps") close(std::stoi(each.path().filename()));
    }
    EXPECT_EQ(use(buffer).buffer(), nullptr) << "the kernel cannot be asked";
    adopted().reclaim();
    EXPECT_TRUE(all_are(buffer, 4));
  });
}

TEST_F(Adoption, GivesFreedPagesBackEvenIfNoCallNamesThemAgain) {
  alone([] {
    Memory memory = made(usual);
    ASSERT_NE(use({memory.get(), usual}).buffer(), nullptr);
    memory.reset();
    EXPECT_EQ(adopted().bytes(), usual);
    adopted().reclaim();
    EXPECT_EQ(adopted().bytes(), 0U);
  });
}

TEST_F(Adoption, IsLaterForMemoryThatIsFreedAgainAndAgain) {
  alone([] {
    int adopted_times = 0;
    std::byte* address = nullptr;
    for (int round = 0; round < 20; ++round) {
      const Memory memory = made(usual);
      if (address == nullptr) address = memory.get();
      if (memory.get() != address) GTEST_SKIP() << "malloc uses another address";
      if (use({memory.get(), usual}, 4).buffer() != nullptr) ++adopted_times;
    }
    EXPECT_GE(adopted_times, 1);
    EXPECT_LE(adopted_times, 4) << "after 4, 8, 16 and 32 calls";
  });
}

TEST_F(Adoption, ContentsSurviveRealloc) {
  alone([] {
    for (const std::size_t bytes : {4 * usual, usual / 2}) {
      Memory memory = made(usual, 4);
      ASSERT_NE(use({memory.get(), usual}).buffer(), nullptr);
      Memory moved(static_cast<std::byte*>(std::realloc(memory.release(), bytes)));
      EXPECT_TRUE(all_are({moved.get(), std::min(bytes, usual)}, 4));
      std::memset(moved.get(), 5, bytes);
      (void)use({moved.get(), bytes});
      EXPECT_TRUE(all_are({moved.get(), bytes}, 5));
      adopted().reclaim();
      const Memory other = made(4 * usual, 6);
      EXPECT_TRUE(all_are({moved.get(), bytes}, 5)) << "the pages are no one else's";
    }
  });
}

TEST_F(Adoption, ServesPartsOfABuffer) {
  alone([] {
    const Memory memory = made(4 * usual);
    const AdoptedMemory::Hold whole = use({memory.get(), 4 * usual});
    ASSERT_NE(whole.buffer(), nullptr);
    const AdoptedMemory::Hold part = adopted().hold({memory.get() + 12345, usual});
    EXPECT_EQ(part.buffer(), whole.buffer());
  });
}

TEST_F(Adoption, ALongerBufferTakesThePlaceOfItsParts) {
  alone([] {
    const Memory memory = made(4 * usual);
    ASSERT_NE(use({memory.get(), usual}).buffer(), nullptr);
    ASSERT_NE(use({memory.get() + 2 * usual, usual}).buffer(), nullptr);
    EXPECT_EQ(adopted().bytes(), 2 * usual);
    const std::span<std::byte> all(memory.get(), 4 * usual);
    {
      const AdoptedMemory::Hold in_use = adopted().hold({memory.get(), usual});
      EXPECT_EQ(use(all).buffer(), nullptr) << "a call of another communicator uses a part";
    }
    const AdoptedMemory::Hold whole = use(all, 100);
    ASSERT_NE(whole.buffer(), nullptr);
    EXPECT_TRUE(all_are(all, 1));
    EXPECT_EQ(adopted().bytes(), 4 * usual);
  });
}

TEST_F(Adoption, NeighboursInOneBlockAreBothAdopted) {
  alone([] {
    const Memory memory = made(2 * usual);
    const AdoptedMemory::Hold first = use({memory.get(), usual});
    const AdoptedMemory::Hold second = use({memory.get() + usual, usual});
    EXPECT_NE(first.buffer(), nullptr);
    EXPECT_NE(second.buffer(), nullptr);
  });
}

TEST_F(Adoption, LeavesOtherMemoryAlone) {
  alone([] {
    const auto refused = [&](std::span<std::byte> memory) {
      return use(memory, 64).buffer() == nullptr;
    };
    Memory in_arena;
    std::thread([&] { in_arena = made(100000); }).join();
    EXPECT_TRUE(refused({in_arena.get(), 100000})) << "malloc expects zeros after MADV_DONTNEED";
    void* const anonymous =
        mmap(nullptr, usual, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(refused({static_cast<std::byte*>(anonymous) + 16, usual - 16}))
        << "an allocator of the program may have it zeroed by the kernel";
    munmap(anonymous, usual);
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void* const mapped = mmap(nullptr, 10 * page_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    EXPECT_TRUE(refused({static_cast<std::byte*>(mapped), 10 * page_bytes})) << "a file, read-only";
    munmap(mapped, 10 * page_bytes);
    close(file);
    std::vector<std::byte> stack_like(100);
    EXPECT_TRUE(refused(stack_like));
    auto* const shared = static_cast<std::byte*>(SharedHeap::own().allocate(usual));
    EXPECT_TRUE(refused({shared, usual})) << "the heap itself";
    SharedHeap::own().release(shared);
  });
}

TEST_F(Adoption, LeavesAProcessWithLockedPagesAlone) {
  alone([] {
    void* const locked =
        mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mlock(locked, page_bytes) != 0) GTEST_SKIP() << "no page can be locked";
    const Memory memory = made(usual);
    EXPECT_EQ(use({memory.get(), usual}, 64).buffer(), nullptr);
    munmap(locked, page_bytes);
    EXPECT_NE(use({memory.get(), usual}, 1000).buffer(), nullptr);
  });
}

TEST_F(Adoption, KeepsWhatThreadsWriteBesideTheBuffer) {
  alone([] {
    const std::size_t bytes = 64 * usual;
    const Memory memory = made(bytes, 0);
    // Numbers right before and after the buffers.
    std::vector<std::byte*> beside;
    for (std::size_t i = 1; i < 32; ++i) beside.push_back(memory.get() + 2 * i * usual);
    std::atomic<bool> has_ended{false};
    std::uint64_t rounds = 0;
    std::thread writer([&] {
      while (!has_ended) {
        ++rounds;
        for (std::byte* const each : beside) {
          std::memcpy(each - 8, &rounds, 8);
          std::memcpy(each + usual, &rounds, 8);
        }
      }
    });
    for (std::byte* const each : beside) EXPECT_NE(use({each, usual}).buffer(), nullptr);
    has_ended = true;
    writer.join();
    for (std::byte* const each : beside) {
      EXPECT_EQ(std::memcmp(each - 8, &rounds, 8), 0);
      EXPECT_EQ(std::memcmp(each + usual, &rounds, 8), 0);
    }
  });
}

TEST_F(Adoption, KeepsWhatThreadsReadMeanwhile) {
  alone([] {
    const Memory memory = made(16 * usual, 9);
    const std::span<std::byte> buffer(memory.get(), 16 * usual);
    std::atomic<bool> has_ended{false};
    std::atomic<int> wrong{0};
    std::thread reader([&] {
      for (std::size_t i = 0; !has_ended; i = (i + 97) % buffer.size()) {
        if (buffer[i] != std::byte{9}) ++wrong;
      }
    });
    EXPECT_NE(use(buffer).buffer(), nullptr);
    has_ended = true;
    reader.join();
    EXPECT_EQ(wrong, 0);
  });
}

TEST_F(Adoption, ServesMemoryOfMallocsHeap) {
  alone([] {
    use_heap();
    Memory memory = made(usual, 1);
    ASSERT_LT(static_cast<void*>(memory.get()), sbrk(0));
    const std::span<std::byte> buffer(memory.get(), usual);
    AdoptedMemory::Hold hold = use(buffer);
    ASSERT_NE(hold.buffer(), nullptr);
    HeapView view = other_view();
    EXPECT_TRUE(all_are({view.resolve_to_write(0, hold.buffer()->publish(buffer)), usual}, 1));
    hold.release();
    memory.reset();
    // malloc uses the pages for other blocks, some of which are adopted again.
    std::vector<Memory> blocks;
    for (int round = 1; round < 100; ++round) {
      const auto bytes = static_cast<std::size_t>(50000 + (round * 7919) % 100000);
      Memory block = made(bytes, round);
      const AdoptedMemory::Hold again = use({block.get(), bytes}, 20);
      if (again.buffer() != nullptr) {
        HeapView now = other_view();
        std::byte* const elsewhere =
            now.resolve_to_write(0, again.buffer()->publish({block.get(), bytes}));
        EXPECT_TRUE(all_are({elsewhere, bytes}, round));
      }
      EXPECT_TRUE(all_are({block.get(), bytes}, round));
      if (round % 3 > 0) blocks.push_back(std::move(block));
      if (round % 10 == 0) blocks.erase(blocks.begin(), blocks.begin() + 3);
    }
  });
}

TEST_F(Adoption, CallocGivesZerosWhereAdoptedMemoryWasFreed) {
  alone([] {
    use_heap();
    int adopted_times = 0;
    for (int round = 0; round < 10; ++round) {
      Memory memory = made(8 * usual, 9);
      if (use({memory.get(), 8 * usual}).buffer() != nullptr) ++adopted_times;
      memory.reset();
      if (round % 2 > 0) malloc_trim(0);
      const Memory zeros(static_cast<std::byte*>(std::calloc(8, usual)));
      EXPECT_TRUE(all_are({zeros.get(), 8 * usual}, 0));
    }
    EXPECT_GE(adopted_times, 4);
  });
}

TEST_F(Adoption, CutOffPagesIgnoreWritesOfOtherProcesses) {
  alone([] {
    const Memory memory = made(usual, 1);
    const std::span<std::byte> buffer(memory.get(), usual);
    AdoptedMemory::Hold hold = use(buffer);
    ASSERT_NE(hold.buffer(), nullptr);
    const std::uint64_t where = hold.buffer()->publish(buffer);
    HeapView view = other_view();
    std::byte* const elsewhere = view.resolve_to_write(0, where);
    ASSERT_TRUE(view.revoke(buffer.subspan(50000, 10000)));
    std::memset(elsewhere, 2, usual);
    EXPECT_TRUE(all_are(buffer.subspan(50000, 10000), 1));
    EXPECT_EQ(buffer[40000], std::byte{2}) << "another page";
    hold.release();
    EXPECT_EQ(adopted().hold(buffer).buffer(), nullptr) << "no longer as a whole";
    const AdoptedMemory::Hold again = use(buffer, 100);
    ASSERT_NE(again.buffer(), nullptr);
    std::memset(buffer.data(), 3, usual);
    std::memset(elsewhere, 4, usual);
    EXPECT_TRUE(all_are(buffer, 3)) << "a late write";
  });
}

TEST_F(Adoption, ACallHoldsItsInputAndItsOutput) {
  alone([] {
    const Memory input = made(usual, 1);
    const Memory output = made(4 * usual, 2);
    const std::span<std::byte> in(input.get(), usual);
    const std::span<std::byte> out(output.get(), 4 * usual);
    CallMemory call;
    for (int i = 0; i < 8; ++i) call.enter(in, out);
    EXPECT_TRUE(call.publish(in));
    EXPECT_TRUE(call.publish(out.subspan(100, 5000)));
    const std::optional<std::uint64_t> where = call.publish(out);
    ASSERT_TRUE(where);
    EXPECT_EQ(call.fetch(*where, 10), out.data());
    const Memory neither = made(usual);
    EXPECT_FALSE(call.publish({neither.get(), 10}));
    call.leave();
    EXPECT_FALSE(call.publish(in)) << "the program may free it now";
  });
}

}  // namespace
}  // namespace tutti::test
