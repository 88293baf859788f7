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

/// Runs the asynchronous calls of one communicator in order, one at a time, in a thread of the
/// pool. It holds the thread only while calls are queued. It allocates memory only when more calls
/// are queued than ever before.
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
    const auto item = std::allocate_shared<Item>(Recycler<Item>(blocks_), std::move(f));
    queue_->add(item);
    return Work(std::shared_ptr<Work::State>(item, &item->state));
  }
  /// True if all queued calls are done.
  [[nodiscard]] bool idle() const { return queue_->idle(); }

 private:
  struct Item {
    template <class F>
    explicit Item(F f) : job(std::move(f)) {}

    Job job;
    Work::State state;
  };

  /// The queue. Shared with the thread of the pool, which may use it a little longer than the
  /// worker lives.
  class Queue final : public PoolTask, public std::enable_shared_from_this<Queue> {
   public:
    void add(std::shared_ptr<Item> item);
    void run() override;
    [[nodiscard]] bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }
    void wait_until_idle();

   private:
    std::mutex mutex_;
    std::condition_variable drained_;
    std::vector<std::shared_ptr<Item>> items_;  // A ring buffer of the calls not yet started:
    std::size_t first_ = 0;                     // the index of the first,
    std::size_t waiting_ = 0;                   // and their number.
    bool is_running_ = false;                   // Submitted to the pool and not yet drained.
    std::atomic<std::size_t> pending_{0};
  };

  std::shared_ptr<RecycledBlocks> blocks_ = std::make_shared<RecycledBlocks>();
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace tutti
