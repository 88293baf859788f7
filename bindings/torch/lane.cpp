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
    needs_threads_ = true;
    offer();
  }

  void run(const c10::intrusive_ptr<CollectiveWork>& work) {
    require_own_process();
    std::unique_lock lock(mutex_);
    if (is_idle_now()) {
      run_now(work, lock);
      offer();
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
      offer();
    });
    body();
    return true;
  }

  void call_soon(std::function<void()> callback) {
    const std::lock_guard lock(mutex_);
    callbacks_.push_back(std::move(callback));
    needs_threads_ = true;
    offer();
  }

  bool wait_for(const CollectiveWork& work, std::chrono::milliseconds timeout) {
    require_own_process();
    std::unique_lock lock(mutex_);
    if (timeout.count() > 0) {
      // Another work that this thread ran could take longer than the timeout.
      needs_threads_ = true;
      offer();
      return wait_until(lock, timeout, [&] { return work.is_over(); });
    }
    while (!work.is_over()) {
      if (is_work_ready()) {
        run_next(lock);
      } else {
        offer();
        ++waiting_;
        changed_.wait(lock);
        --waiting_;
      }
    }
    offer();
    return true;
  }

  bool wait_until_idle(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return wait_until(lock, timeout, [&] { return is_idle_now(); });
  }

  bool wait_until_quiet(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    const std::size_t own = is_own_thread() ? 1 : 0;
    return wait_until(lock, timeout,
                      [&] { return is_idle_now() && callbacks_.empty() && in_callbacks_ <= own; });
  }

  void stop() {
    if (!is_own_process()) return;
    std::unique_lock lock(mutex_);
    has_to_stop_ = true;
    offered_.notify_all();
    if (is_own_thread()) return;
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
  [[nodiscard]] bool is_work_ready() const { return !queue_.empty() && !is_running_; }
  [[nodiscard]] bool has_something_to_do() const { return is_work_ready() || !callbacks_.empty(); }

  [[nodiscard]] bool is_own_thread() const { return served == this; }
  [[nodiscard]] bool is_own_process() const { return generation() == generation_; }

  /// A forked child has neither the threads nor the connections.
  void require_own_process() const {
    if (is_own_process()) return;
    fail("call", "a forked child cannot use the process group of its parent: make a new one");
  }

  template <class Condition>
  bool wait_until(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds timeout,
                  Condition condition) {
    ++waiting_;
    const bool in_time = changed_.wait_for(lock, timeout, condition);
    --waiting_;
    return in_time;
  }

  /// If there is something to do: wakes a thread that waits for it, or starts one. A thread calls
  /// it when it has offered something, and before it does anything that may wait. One thread is
  /// enough, since it calls this, too.
  void offer() {
    if (!has_something_to_do() || !needs_threads_) return;
    if (idle_ > 0) {
      offered_.notify_one();
      return;
    }
    std::thread([self = shared_from_this()] { self->serve(); }).detach();
    ++idle_;  // Until it looks for something to do.
  }

  void serve() {
    pthread_setname_np(pthread_self(), "tutti-torch");
    served = this;
    std::unique_lock lock(mutex_);
    for (;;) {
      offered_.wait(lock, [&] { return has_something_to_do() || has_to_leave(); });
      --idle_;
      if (!has_something_to_do()) break;
      do_what_is_there(lock);
      ++idle_;
    }
    served = nullptr;
  }

  /// For a thread that is idle and has nothing to do. Two stay, since callbacks may come again.
  [[nodiscard]] bool has_to_leave() const {
    return (has_to_stop_ && queue_.empty()) || idle_ > most_idle;
  }

  /// Callbacks come first: they belong to works that are done.
  void do_what_is_there(std::unique_lock<std::mutex>& lock) {
    while (has_something_to_do()) {
      if (!callbacks_.empty()) {
        call_next(lock);
      } else {
        run_next(lock);
      }
    }
  }

  void call_next(std::unique_lock<std::mutex>& lock) {
    std::function<void()> callback = std::move(callbacks_.front());
    callbacks_.pop_front();
    ++in_callbacks_;
    offer();
    lock.unlock();
    callback();
    callback = nullptr;  // What it holds may end here.
    lock.lock();
    --in_callbacks_;
    if (waiting_ > 0) changed_.notify_all();
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

  /// Runs a work. Its callbacks are called later, by a thread of the lane: that of the caller may
  /// not do anything that makes it wait for more than its own work.
  void run_now(const c10::intrusive_ptr<CollectiveWork>& work, std::unique_lock<std::mutex>& lock) {
    is_running_ = true;
    offer();
    lock.unlock();
    const bool has_callbacks = work->perform();
    lock.lock();
    work->mark_over();
    become_free();
    if (!has_callbacks) return;
    callbacks_.emplace_back([work] { work->announce(); });
    needs_threads_ = true;
  }

  /// After a work: the next one may run.
  void become_free() {
    is_running_ = false;
    if (waiting_ > 0) changed_.notify_all();
    if (has_to_stop_) offered_.notify_all();
  }

  static constexpr std::size_t most_idle = 2;
  static thread_local const State* served;  // By this thread.

  std::mutex mutex_;
  std::condition_variable offered_;  // There is something to do.
  std::condition_variable changed_;  // A work or a callback is done.
  std::deque<c10::intrusive_ptr<CollectiveWork>> queue_;
  std::deque<std::function<void()>> callbacks_;
  std::size_t waiting_ = 0;       // Threads that wait for changed_.
  std::size_t idle_ = 0;          // Threads of the lane that wait for offered_, or are about to.
  std::size_t in_callbacks_ = 0;  // Threads of the lane that are in a callback.
  bool is_running_ = false;
  bool needs_threads_ = false;  // False while all works are run by threads that wait for them.
  bool has_to_stop_ = false;
  unsigned generation_ = generation();
};

thread_local const Lane::State* Lane::State::served = nullptr;

Lane::Lane() : state_(std::make_shared<State>()) {}
Lane::~Lane() { state_->stop(); }

void Lane::add(c10::intrusive_ptr<CollectiveWork> work) { state_->add(std::move(work)); }

void Lane::run(const c10::intrusive_ptr<CollectiveWork>& work) { state_->run(work); }

bool Lane::try_run(c10::function_ref<void()> body) { return state_->try_run(body); }

bool Lane::wait_until_idle(std::chrono::milliseconds timeout) {
  return state_->wait_until_idle(timeout);
}
bool Lane::wait_until_quiet(std::chrono::milliseconds timeout) {
  return state_->wait_until_quiet(timeout);
}
bool Lane::is_idle() const { return state_->is_idle(); }

bool wait_for(const std::shared_ptr<Lane::State>& lane, const CollectiveWork& work,
              std::chrono::milliseconds timeout) {
  return lane->wait_for(work, timeout);
}

void call_soon(const std::shared_ptr<Lane::State>& lane, std::function<void()> callback) {
  lane->call_soon(std::move(callback));
}

}  // namespace tutti_torch
