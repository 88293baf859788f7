#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <tutti/communicator.hpp>

#include "api/communicator_impl.hpp"
#include "api/communicator_options.hpp"
#include "core/thread_start.hpp"
#include "rendezvous/thread_exchange.hpp"

namespace tutti {

namespace {

/// The threads of one group and their shared state.
struct ThreadGroup {
  explicit ThreadGroup(std::uint32_t ranks) : gather(ranks) {}

  /// Also wakes the threads that still wait in the exchange.
  void fail(std::exception_ptr cause) {
    {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::move(cause);
    }
    gather.give_up("another thread has failed");
  }

  ThreadGather gather;
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
};

[[noreturn]] void refuse_child() {
  throw Error(ErrorCode::aborted,
              "run_threads: this process was forked by one of the threads, so it lacks the other "
              "threads: end the child within the function that the threads run");
}

}  // namespace

void run_threads(std::uint32_t ranks, const std::function<void(Communicator&)>& f,
                 const CommunicatorOptions& options) {
  if (ranks == 0) throw Error(ErrorCode::invalid_argument, "run_threads needs at least one rank");
  if (!f) throw Error(ErrorCode::invalid_argument, "run_threads: the function to run is empty");
  const CommunicatorSettings settings = settings_of(options, ranks);
  const ProcessOrigin origin;
  auto group = std::make_unique<ThreadGroup>(ranks);
  const auto run_rank = [&](std::uint32_t rank) {
    try {
      ThreadExchange exchange(group->gather, rank, Clock::now() + settings.timeout);
      Communicator communicator(
          std::make_unique<Communicator::Impl>(exchange, rank, ranks, settings));
      f(communicator);
    } catch (...) {
      if (!origin.is_here()) throw;
      group->fail(std::current_exception());
    }
  };
  try {
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
      group->threads.push_back(start_thread([&run_rank, rank] { run_rank(rank); }));
    }
  } catch (const Error&) {
    group->fail(std::current_exception());
  }
  try {
    run_rank(0);
  } catch (...) {
    (void)group.release();  // In a child: see below.
    throw;
  }
  if (!origin.is_here()) {
    // A forked child cannot join the threads, and one of them may have held a lock of the group.
    (void)group.release();
    refuse_child();
  }
  for (std::thread& thread : group->threads) thread.join();
  if (group->failure) std::rethrow_exception(group->failure);
}

}  // namespace tutti
