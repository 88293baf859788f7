#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

TEST(WhileWaiting, IsCalledInTheThreadThatWaits) {
  std::atomic<int> calls{0};
  run_threads(2, [&](Communicator& world) {
    const std::thread::id self = std::this_thread::get_id();
    CommunicatorOptions options;
    options.while_waiting = [&] {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++calls;
    };
    Communicator comm = world.duplicate(options);
    // Rank 0 is late on a busy machine.
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (comm.rank() == 1 && calls == 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
    }
    comm.barrier();
  });
  EXPECT_GT(calls, 0);
}

TEST(WhileWaiting, ThrowingAbortsTheCommunicator) {
  std::atomic<bool> has_thrown{false};
  run_threads(2, [&](Communicator& world) {
    CommunicatorOptions options;
    if (world.rank() == 0) options.while_waiting = [] { throw std::runtime_error("Ctrl-C"); };
    Communicator comm = world.duplicate(options);
    if (comm.rank() == 0) {
      EXPECT_THROW(comm.barrier(), std::runtime_error);
      has_thrown = true;
      return;
    }
    while (!has_thrown) std::this_thread::sleep_for(1ms);
    expect_error([&] { comm.barrier(); }, ErrorCode::aborted,
                 "rank 0 gave up: its own code threw Ctrl-C");
  });
}

}  // namespace
}  // namespace tutti::test
