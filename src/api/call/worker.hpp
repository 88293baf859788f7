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

/// Does the calls of one communicator one after the other, in the order in which they were given to
/// it, in a thread of the pool, which it has only while there is something to do. Once it has had
/// as many at a time as it ever will, it takes no memory.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { finish(); }

  /// Waits until what was given to it is done. Nothing may be given to it any more.
  void finish();

  /// `f` is called without arguments.
  template <class F>
  [[nodiscard]] Work add(F f) {
    const auto item = std::allocate_shared<Item>(Recycler<Item>(blocks_), std::move(f));
    queue_->add(item);
    return Work(std::shared_ptr<Work::State>(item, &item->state));
  }
  /// Whether everything that was given to it is done.
  [[nodiscard]] bool idle() const { return queue_->idle(); }

 private:
  struct Item {
    template <class F>
    explicit Item(F f) : job(std::move(f)) {}

    Job job;
    Work::State state;
  };

  /// What the thread of the pool works on, which may go a little later than the worker.
  class Queue final : public PoolTask, public std::enable_shared_from_this<Queue> {
   public:
    void add(std::shared_ptr<Item> item);
    void run() override;
    [[nodiscard]] bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }
    void wait_until_idle();

   private:
    std::mutex mutex_;
    std::condition_variable drained_;
    std::vector<std::shared_ptr<Item>> items_;  // A ring: those not yet begun are
    std::size_t first_ = 0;                     // from here on
    std::size_t waiting_ = 0;                   // so many.
    bool is_running_ = false;                   // A thread has it, or will soon.
    std::atomic<std::size_t> pending_{0};
  };

  std::shared_ptr<RecycledBlocks> blocks_ = std::make_shared<RecycledBlocks>();
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace tutti
