// A warm communicator takes no memory: this program counts what the threads that ask for it take.
// Sanitizers have their own way to hand out memory, and are left alone.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TUTTI_MEMORY_IS_WATCHED
#endif
#endif
#ifndef TUTTI_MEMORY_IS_WATCHED

#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

namespace {

thread_local bool counts = false;
thread_local std::size_t taken = 0;

void* take(std::size_t bytes) {
  if (counts) ++taken;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return take(bytes); }
void* operator new[](std::size_t bytes) { return take(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

namespace tutti::test {
namespace {

TEST(Allocation, WarmCallsTakeNone) {
  run_threads(3, [](Communicator& comm) {
    std::vector<float> small(4);
    std::vector<float> large(100000);
    const auto round = [&] {
      comm.all_reduce(small);
      comm.all_reduce(large);
      comm.all_reduce(large, Op::sum, {.algorithm = "allreduce/ring"});
      comm.broadcast(large, 1);
      comm.barrier();
    };
    for (int i = 0; i < 5; ++i) round();
    counts = true;
    for (int i = 0; i < 20; ++i) round();
    counts = false;
    EXPECT_EQ(taken, 0U);
    const std::vector<int> noticed(3);
    counts = true;
    const std::vector<int> counted(noticed);
    counts = false;
    EXPECT_EQ(taken, 1U) << "the counting itself works";
  });
}

}  // namespace
}  // namespace tutti::test

#endif
