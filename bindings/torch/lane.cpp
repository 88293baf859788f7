#include "lane.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <c10/util/ScopeExit.h>

#include "failure.hpp"
#include "work.hpp"

namespace tutti_torch {
namespace {

/// How often this process and its ancestors were forked. Unlike getpid(), no system call.
unsigned generation() {
  static std::atomic<unsigned> forks{0};
  [[maybe_unused]] static const int counted =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

class Lane::State : public std::enable_shared_from_this<Lane::State> {
 public:
  void add(c10::intrusive_ptr<CollectiveWork> work) {
    require_own_process();
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    if (!has_thread_) {
      std::thread([self = shared_from_this()] { self->serve(); }).detach();
      has_thread_ = true;
    } else if (!is_running_) {
      offered_.notify_one();
    }
  }

  void run(const c10::intrusive_ptr<CollectiveWork>& work) {
    require_own_process();
    std::unique_lock lock(mutex_);
    if (is_idle_now()) {
      run_now(work, lock);
      return;
    }
    queue_.push_back(work);
    lock.unlock();
    (void)wait_for(*work, std::chrono::milliseconds(0));
  }

  bool try_run(c10::function_ref<void()> body) {
    require_own_process();
    {
      const std::lock_guard lock(mutex_);
      if (!is_idle_now()) return false;
      is_running_ = true;
    }
    const auto end = c10::make_scope_exit([&] {
      const std::lock_guard lock(mutex_);
      become_free();
    });
    body();
    return true;
  }

  bool wait_for(const CollectiveWork& work, std::chrono::milliseconds timeout) {
    require_own_process();
    std::unique_lock lock(mutex_);
    if (timeout.count() > 0) {
      // Another work that this thread ran could take longer than the timeout.
      if (!has_thread_ && !is_running_ && !queue_.empty()) {
        std::thread([self = shared_from_this()] { self->serve(); }).detach();
        has_thread_ = true;
      }
      ++waiting_;
      const bool in_time = changed_.wait_for(lock, timeout, [&] { return work.is_over(); });
      --waiting_;
      return in_time;
    }
    while (!work.is_over()) {
      if (!is_running_ && !queue_.empty()) {
        run_next(lock);
      } else {
        ++waiting_;
        changed_.wait(lock);
        --waiting_;
      }
    }
    return true;
  }

  bool wait_until_idle(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    const bool in_time = changed_.wait_for(lock, timeout, [&] { return is_idle_now(); });
    --waiting_;
    return in_time;
  }

  void stop() {
    if (!is_own_process()) return;
    std::unique_lock lock(mutex_);
    has_to_stop_ = true;
    offered_.notify_all();
    if (std::this_thread::get_id() == server_) return;
    ++waiting_;
    changed_.wait(lock, [&] { return is_idle_now(); });
    --waiting_;
  }

  [[nodiscard]] bool is_idle() {
    const std::lock_guard lock(mutex_);
    return is_idle_now();
  }

 private:
  [[nodiscard]] bool is_idle_now() const { return queue_.empty() && !is_running_; }

  [[nodiscard]] bool is_own_process() const { return generation() == generation_; }

  /// A forked child has neither the thread nor the connections.
  void require_own_process() const {
    if (is_own_process()) return;
    fail("call", "a forked child cannot use the process group of its parent: make a new one");
  }

  void serve() {
    pthread_setname_np(pthread_self(), "tutti-torch");
    std::unique_lock lock(mutex_);
    server_ = std::this_thread::get_id();
    for (;;) {
      offered_.wait(lock, [&] { return has_to_stop_ || (!queue_.empty() && !is_running_); });
      if (!queue_.empty() && !is_running_) {
        run_next(lock);
      } else if (queue_.empty()) {
        return;
      } else {
        // Stops when the thread that runs a work has done it.
        ++waiting_;
        changed_.wait(lock);
        --waiting_;
      }
    }
  }

  /// Runs the first work of the queue.
  void run_next(std::unique_lock<std::mutex>& lock) {
    c10::intrusive_ptr<CollectiveWork> work = std::move(queue_.front());
    queue_.pop_front();
    run_now(work, lock);
    lock.unlock();
    work.reset();  // May be the last reference.
    lock.lock();
  }

  /// Runs a work. Its callbacks run when the lane is free again, so that they may wait for other
  /// works of this lane.
  void run_now(const c10::intrusive_ptr<CollectiveWork>& work, std::unique_lock<std::mutex>& lock) {
    is_running_ = true;
    lock.unlock();
    work->perform();
    lock.lock();
    work->mark_over();
    become_free();
    lock.unlock();
    work->announce();
    lock.lock();
  }

  /// After a work: the next one may run.
  void become_free() {
    is_running_ = false;
    if (waiting_ > 0) changed_.notify_all();
    if (!queue_.empty() && has_thread_) offered_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable offered_;  // A work is in the queue and none is running.
  std::condition_variable changed_;  // A work is done.
  std::deque<c10::intrusive_ptr<CollectiveWork>> queue_;
  std::size_t waiting_ = 0;  // Threads that wait for changed_.
  bool is_running_ = false;
  bool has_thread_ = false;
  bool has_to_stop_ = false;
  std::thread::id server_{};
  unsigned generation_ = generation();
};

Lane::Lane() : state_(std::make_shared<State>()) {}
Lane::~Lane() { state_->stop(); }

void Lane::add(c10::intrusive_ptr<CollectiveWork> work) { state_->add(std::move(work)); }

void Lane::run(const c10::intrusive_ptr<CollectiveWork>& work) { state_->run(work); }

bool Lane::try_run(c10::function_ref<void()> body) { return state_->try_run(body); }

bool Lane::wait_until_idle(std::chrono::milliseconds timeout) {
  return state_->wait_until_idle(timeout);
}
bool Lane::is_idle() const { return state_->is_idle(); }

bool wait_for(const std::shared_ptr<Lane::State>& lane, const CollectiveWork& work,
              std::chrono::milliseconds timeout) {
  return lane->wait_for(work, timeout);
}

}  // namespace tutti_torch
