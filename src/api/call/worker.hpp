#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "api/call/job.hpp"
#include "api/call/recycler.hpp"
#include "api/call/work_state.hpp"
#include "core/worker_pool.hpp"

namespace tutti {

/// Runs the asynchronous calls of one communicator in order, one at a time: in a thread of the
/// pool, or in a thread that waits for one of them, so that no other has to be woken. It holds the
/// thread of the pool only while calls are queued. It allocates memory only when more calls are
/// queued than ever before.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { finish(); }

  /// Waits until all queued calls are done. No call may be added afterwards.
  void finish();

  /// Queues `f`, which is called without arguments.
  template <class F>
  [[nodiscard]] Work add(F f) {
    const auto item = std::allocate_shared<Item>(Recycler<Item>(blocks_), queue_, std::move(f));
    queue_->add(item);
    return Work(std::shared_ptr<Work::State>(item, item.get()));
  }
  /// True if all queued calls are done.
  [[nodiscard]] bool idle() const { return queue_->idle(); }

 private:
  class Queue;

  struct Item final : Work::State {
    template <class F>
    Item(std::shared_ptr<Queue> runs_in, F f) : queue(std::move(runs_in)), job(std::move(f)) {}

    /// Without a limit of time, runs the queued calls up to this one, if nobody else does. With
    /// one it only waits: a call before this one might take longer.
    [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point until) override;

    std::shared_ptr<Queue> queue;
    Job job;
  };

  /// Shared with the thread of the pool and with works, which may live longer than the worker.
  class Queue final : public PoolTask, public std::enable_shared_from_this<Queue> {
   public:
    void add(std::shared_ptr<Item> item);
    void run() override;
    /// Runs calls until that of the item is done, if no other thread runs one meanwhile.
    void run_until_done(const Item& item);
    [[nodiscard]] bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }
    void wait_until_idle();

   private:
    void call_pool();
    void run_next(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::condition_variable drained_;
    std::vector<std::shared_ptr<Item>> items_;  // A ring buffer of the calls not yet started:
    std::size_t first_ = 0;                     // the index of the first,
    std::size_t waiting_ = 0;                   // and their number.
    bool is_in_pool_ = false;                   // Submitted, and not yet left by its thread.
    bool is_busy_ = false;                      // A thread runs a call.
    std::atomic<std::size_t> pending_{0};
  };

  std::shared_ptr<RecycledBlocks> blocks_ = std::make_shared<RecycledBlocks>();
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace tutti
