#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

TEST(Work, CallsBackWhenItIsDone) {
  run_threads(2, [](Communicator& comm) {
    std::vector<int> sum{1};
    std::atomic<int> called{0};
    const Work work = comm.all_reduce_async(sum);
    for (int i = 0; i < 3; ++i) {
      work.then([&](std::exception_ptr failure) {
        EXPECT_FALSE(failure);
        ++called;
      });
    }
    work.wait();
    work.then([&](std::exception_ptr) { ++called; });
    Work().then([&](std::exception_ptr) { ++called; });
    for (int i = 0; i < 1000 && called < 5; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(called, 5);
    EXPECT_EQ(sum.front(), 2);
  });
}

}  // namespace
}  // namespace tutti::test
