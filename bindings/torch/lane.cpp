#include "lane.hpp"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "failure.hpp"
#include "work.hpp"

namespace tutti_torch {

class Lane::State : public std::enable_shared_from_this<Lane::State> {
 public:
  void add(c10::intrusive_ptr<CollectiveWork> work, bool wake) {
    require_own_process();
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    if (!wake) return;
    if (!has_thread_) {
      std::thread([self = shared_from_this()] { self->serve(); }).detach();
      has_thread_ = true;
    } else if (!is_running_) {
      offered_.notify_one();
    }
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

  [[nodiscard]] bool is_own_process() const { return getpid() == process_; }

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

  /// Runs the first work of the queue. Its callbacks run when the lane is free again, so that they
  /// may wait for other works of this lane.
  void run_next(std::unique_lock<std::mutex>& lock) {
    c10::intrusive_ptr<CollectiveWork> work = std::move(queue_.front());
    queue_.pop_front();
    is_running_ = true;
    lock.unlock();
    work->perform();
    lock.lock();
    is_running_ = false;
    work->mark_over();
    if (waiting_ > 0) changed_.notify_all();
    if (!queue_.empty() && has_thread_) offered_.notify_one();
    lock.unlock();
    work->announce();
    work.reset();
    lock.lock();
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
  pid_t process_ = getpid();
};

Lane::Lane() : state_(std::make_shared<State>()) {}
Lane::~Lane() { state_->stop(); }

void Lane::add(c10::intrusive_ptr<CollectiveWork> work) { state_->add(std::move(work), true); }

void Lane::run(const c10::intrusive_ptr<CollectiveWork>& work) {
  state_->add(work, false);
  (void)state_->wait_for(*work, std::chrono::milliseconds(0));
}

bool Lane::wait_until_idle(std::chrono::milliseconds timeout) {
  return state_->wait_until_idle(timeout);
}
bool Lane::is_idle() const { return state_->is_idle(); }

bool wait_for(const std::shared_ptr<Lane::State>& lane, const CollectiveWork& work,
              std::chrono::milliseconds timeout) {
  return lane->wait_for(work, timeout);
}

}  // namespace tutti_torch
