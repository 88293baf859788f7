#pragma once

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <span>

#include <gtest/gtest.h>

#include "support/forked_child.hpp"
#include "support/sanitizer.hpp"
#include "transport/memory/adopted_memory.hpp"
#include "transport/memory/shared_heap.hpp"
#include "transport/shm/heap_view.hpp"

namespace tutti::test {

/// Tests of AdoptedMemory.
class Adoption : public ::testing::Test {
 protected:
  /// Not a whole number of pages.
  static constexpr std::size_t usual = (std::size_t{1} << 20) + 1000;

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  static Memory made(std::size_t bytes, int value = 1) {
    Memory memory(static_cast<std::byte*>(std::malloc(bytes)));
    std::memset(memory.get(), value, bytes);
    return memory;
  }

  static bool all_are(std::span<const std::byte> data, int value) {
    for (const std::byte each : data) {
      if (each != static_cast<std::byte>(value)) return false;
    }
    return true;
  }

  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "the sanitizer replaces malloc";
    if (!MemoryMap().can_be_asked()) GTEST_SKIP() << "the kernel cannot be asked";
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
  }
  /// Runs a test in a process whose malloc and heap no other test has used.
  static void alone(const std::function<void()>& test) {
    ForkedChild child([&] {
      test();
      std::cout.flush();
      return HasFailure() ? "see above" : "";
    });
    EXPECT_EQ(child.wait(), "");
  }
  /// Takes all memory from malloc's heap from now on.
  static void use_heap() { mallopt(M_MMAP_THRESHOLD, 1 << 25); }

  static AdoptedMemory& adopted() { return SharedHeap::own().adopted(); }
  /// Names the memory in so many calls; the hold of the last one.
  static AdoptedMemory::Hold use(std::span<std::byte> memory, int calls = 200) {
    AdoptedMemory::Hold hold;
    for (int i = 0; i < calls; ++i) {
      hold.release();
      hold = adopted().hold(memory);
    }
    return hold;
  }
  /// The heap of this process as another one sees it.
  static HeapView other_view() {
    SharedHeap& heap = SharedHeap::own();
    return HeapView({{.pid = getpid(), .heap_fd = heap.fd(), .heap_file = heap.file()}}, 0);
  }
};

}  // namespace tutti::test
