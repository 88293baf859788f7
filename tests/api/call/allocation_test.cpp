// A warm communicator allocates no memory. This program replaces operator new to count allocations
// per thread. It is not built with sanitizers, which have allocators of their own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TUTTI_MEMORY_IS_WATCHED
#endif
#endif
#ifndef TUTTI_MEMORY_IS_WATCHED

#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <tutti/bucketer.hpp>

namespace {

thread_local bool counts = false;
thread_local std::size_t taken = 0;
// For threads that tutti itself starts.
std::atomic<bool> counts_everywhere{false};
std::atomic<std::size_t> taken_anywhere{0};

void* take(std::size_t bytes) {
  if (counts) ++taken;
  if (counts_everywhere.load(std::memory_order_relaxed)) ++taken_anywhere;
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

/// The number of allocations in all threads of all ranks while they repeat `round`.
std::size_t taken_by_all(Communicator& comm, const std::function<void()>& round) {
  // The number of queued calls varies, so the queue may still grow in a later round. Of several
  // attempts, one must not allocate.
  std::size_t taken_now = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    for (int i = 0; i < 50; ++i) {
      round();
      comm.barrier();
    }
    if (comm.rank() == 0) taken_anywhere = 0;
    if (comm.rank() == 0) counts_everywhere = true;
    comm.barrier();
    for (int i = 0; i < 100; ++i) round();
    comm.barrier();
    if (comm.rank() == 0) counts_everywhere = false;
    comm.barrier();
    taken_now = taken_anywhere;
    comm.barrier();
    if (taken_now == 0) break;
  }
  return taken_now;
}

TEST(Allocation, WarmCallsDoNotAllocate) {
  run_threads(3, [](Communicator& comm) {
    taken = 0;
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
    comm.barrier();  // A rank that leaves is noticed by those still in their last call.
    EXPECT_EQ(taken, 0U);
    const std::vector<int> noticed(3);
    counts = true;
    const std::vector<int> counted(noticed);
    counts = false;
    EXPECT_EQ(taken, 1U) << "the counting itself works";
  });
}

/// Neither the queue nor the Work allocates.
TEST(Allocation, WarmAsynchronousCallsDoNotAllocate) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> small(4);
    std::vector<float> large(100000);
    std::vector<Work> works(8);
    const auto round = [&] {
      for (std::size_t i = 0; i < works.size(); ++i) {
        works[i] = comm.all_reduce_async(i % 2 == 0 ? small : large);
      }
      for (const Work& work : works) work.wait();
    };
    EXPECT_EQ(taken_by_all(comm, round), 0U);
  });
}

TEST(Allocation, WarmBucketerStepsDoNotAllocate) {
  run_threads(2, [](Communicator& comm) {
    std::vector<std::vector<float>> memory(30, std::vector<float>(1000));
    std::vector<Tensor> tensors;
    for (auto& each : memory) tensors.push_back(tensor(each));
    Bucketer bucketer(comm, tensors, {.bucket_bytes = 20000, .first_bucket_bytes = 4000});
    const auto step = [&] {
      for (std::size_t i = 0; i < tensors.size(); ++i) bucketer.ready(i);
      bucketer.wait(0);
      bucketer.finish();
    };
    EXPECT_EQ(taken_by_all(comm, step), 0U);
  });
}

}  // namespace
}  // namespace tutti::test

#endif
