#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "api/job.hpp"
#include "api/recycler.hpp"
#include "api/work_state.hpp"

namespace tutti {

/// A thread that does calls one after the other, in the order in which they were given to it. It
/// begins with the first one. Once it has had as many at a time as it ever will, it takes no
/// memory.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { finish(); }

  /// Does what was given to it, and ends. Nothing may be given to it any more.
  void finish();

  /// `f` is called without arguments.
  template <class F>
  [[nodiscard]] Work add(F f) {
    const auto item = std::allocate_shared<Item>(Recycler<Item>(blocks_), std::move(f));
    queue(item);
    return Work(std::shared_ptr<Work::State>(item, &item->state));
  }
  /// Whether everything that was given to it is done.
  [[nodiscard]] bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }

 private:
  struct Item {
    template <class F>
    explicit Item(F f) : job(std::move(f)) {}

    Job job;
    Work::State state;
  };

  void queue(std::shared_ptr<Item> item);
  void work();

  std::shared_ptr<RecycledBlocks> blocks_ = std::make_shared<RecycledBlocks>();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Item>> items_;  // A ring: those not yet begun are
  std::size_t first_ = 0;                     // from here on
  std::size_t waiting_ = 0;                   // so many.
  std::atomic<std::size_t> pending_{0};
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace tutti
