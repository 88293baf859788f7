#include "lane.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <c10/util/ScopeExit.h>

#include "call_order.hpp"
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
    std::unique_lock lock(mutex_);
    order_.push(std::move(work));
    needs_threads_ = true;
    offer_or_serve(lock);
  }

  void run(const c10::intrusive_ptr<CollectiveWork>& work) {
    require_own_process();
    std::unique_lock lock(mutex_);
    if (is_turn_of_caller()) {
      run_now(work, lock);
      offer_or_serve(lock);
      return;
    }
    order_.push(work);
    lock.unlock();
    (void)wait_for(*work, std::chrono::milliseconds(0));
  }

  bool try_run(c10::function_ref<void()> body) {
    require_own_process();
    {
      const std::lock_guard lock(mutex_);
      if (!is_turn_of_caller()) return false;
      is_running_ = true;
    }
    const auto end = c10::make_scope_exit([&] {
      std::unique_lock lock(mutex_);
      order_.note_call();
      become_free();
      offer_or_serve(lock);
    });
    body();
    return true;
  }

  void call_soon(std::function<void()> body, const std::weak_ptr<Origin>& made_in) {
    std::unique_lock lock(mutex_);
    callbacks_.push_back({std::move(body), made_in.lock()});
    needs_threads_ = true;
    offer_or_serve(lock);
  }

  bool wait_for(const CollectiveWork& work, std::chrono::milliseconds timeout) {
    require_own_process();
    std::unique_lock lock(mutex_);
    // It may come after the callback that this thread is in.
    if (!is_same(work.made_in(), origin_of_calls())) order_.let_go();
    if (timeout.count() > 0) {
      // Another work that this thread ran could take longer than the timeout.
      needs_threads_ = true;
      offer_or_serve(lock);
      return wait_until(lock, timeout, [&] { return work.is_over(); });
    }
    while (!work.is_over()) {
      if (is_work_ready()) {
        run_next(lock);
      } else if (!offer() && has_something_to_do()) {
        serve_here(lock);
      } else {
        ++waiting_;
        wait_for_turn(changed_, lock);
        --waiting_;
      }
    }
    offer_or_serve(lock);
    return true;
  }

  bool wait_until_idle(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    order_.let_go();
    return wait_until(lock, timeout, [&] { return is_idle_now(); });
  }

  bool wait_until_quiet(std::chrono::milliseconds timeout) {
    // Another callback may wait for this one.
    if (is_own_thread()) return wait_until_idle(timeout);
    std::unique_lock lock(mutex_);
    return wait_until(lock, timeout,
                      [&] { return is_idle_now() && callbacks_.empty() && in_callbacks_ == 0; });
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

  /// A forked child has neither the threads nor the connections.
  [[nodiscard]] bool is_own_process() const { return generation() == generation_; }

 private:
  struct Callback {
    std::function<void()> body;
    std::shared_ptr<Origin> origin;  // Of the calls that it makes.
    bool is_of_work = false;         // Else of a message.
  };

  [[nodiscard]] bool is_idle_now() const { return !is_running_ && order_.is_empty(); }
  [[nodiscard]] bool is_work_ready() { return !is_running_ && order_.is_ready(); }
  [[nodiscard]] bool is_turn_of_caller() { return !is_running_ && order_.is_turn_of_caller(); }
  [[nodiscard]] bool has_something_to_do() { return !callbacks_.empty() || is_work_ready(); }
  /// Works are held up by callbacks: a thread has to be there when their time is over.
  [[nodiscard]] bool is_held_up() {
    return !is_running_ && !order_.is_empty() && !order_.is_ready();
  }

  [[nodiscard]] bool is_own_thread() const { return served == this; }

  void require_own_process() const {
    if (is_own_process()) return;
    fail("call", "a forked child cannot use the process group of its parent: make a new one");
  }

  static bool is_same(const std::weak_ptr<Origin>& a, const std::weak_ptr<Origin>& b) {
    return !a.owner_before(b) && !b.owner_before(a);
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
  /// enough, since it calls this, too. False: no thread could be started.
  [[nodiscard]] bool offer() {
    if (!needs_threads_ || !(has_something_to_do() || is_held_up())) return true;
    if (idle_ > 0) {
      offered_.notify_one();
      return true;
    }
    try {
      std::thread([self = shared_from_this()] { self->serve(); }).detach();
    } catch (const std::system_error& error) {
      TORCH_WARN_ONCE("tutti: no thread can be started (", error.what(),
                      "): calls and callbacks run in the threads that are there");
      return false;
    }
    ++idle_;  // Until it looks for something to do.
    return true;
  }

  void wait_for_turn(std::condition_variable& news, std::unique_lock<std::mutex>& lock) {
    if (is_held_up()) {
      news.wait_until(lock, order_.hold_end());
    } else {
      news.wait(lock);
    }
  }

  /// For a thread that does not serve the lane, or not now.
  void offer_or_serve(std::unique_lock<std::mutex>& lock) {
    if (!offer()) serve_here(lock);
  }

  void serve_here(std::unique_lock<std::mutex>& lock) {
    const State* const before = std::exchange(served, this);
    do_what_is_there(lock);
    served = before;
  }

  void serve() {
    pthread_setname_np(pthread_self(), "tutti-torch");
    served = this;
    std::unique_lock lock(mutex_);
    for (;;) {
      while (!has_something_to_do() && !has_to_leave()) wait_for_turn(offered_, lock);
      --idle_;
      if (!has_something_to_do()) break;
      do_what_is_there(lock);
      ++idle_;
    }
    served = nullptr;
  }

  /// For a thread that is idle and has nothing to do. Two stay, since callbacks may come again.
  [[nodiscard]] bool has_to_leave() const {
    return (has_to_stop_ && order_.is_empty()) || idle_ > most_idle;
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
    Callback callback = std::move(callbacks_.front());
    callbacks_.pop_front();
    ++in_callbacks_;
    (void)offer();  // Else this thread goes on after the callback.
    lock.unlock();
    {
      const AsOrigin calls(callback.origin);
      callback.body();
      callback.body = nullptr;  // What it holds may end here.
    }
    lock.lock();
    --in_callbacks_;
    if (callback.is_of_work) order_.close(callback.origin);
    if (waiting_ > 0) changed_.notify_all();
  }

  /// Runs the next work.
  void run_next(std::unique_lock<std::mutex>& lock) {
    c10::intrusive_ptr<CollectiveWork> work = order_.pop();
    run_now(work, lock);
    lock.unlock();
    work.reset();  // May be the last reference.
    lock.lock();
  }

  /// Runs a work. Its callbacks are called later, by a thread of the lane: that of the caller may
  /// not do anything that makes it wait for more than its own work.
  void run_now(const c10::intrusive_ptr<CollectiveWork>& work, std::unique_lock<std::mutex>& lock) {
    is_running_ = true;
    (void)offer();  // Callbacks. Else this thread, or the next, calls them.
    lock.unlock();
    const bool has_callbacks = work->perform();
    lock.lock();
    work->mark_over();
    order_.note_end(*work);
    if (has_callbacks) {
      callbacks_.push_back({[work] { work->announce(); }, order_.open(*work), true});
      needs_threads_ = true;
    }
    become_free();
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
  CallOrder order_;
  std::deque<Callback> callbacks_;
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
Lane::~Lane() {
  state_->stop();
  // A forked child cannot destroy what threads of its parent wait on.
  if (!is_own_process()) (void)new std::shared_ptr<State>(std::move(state_));
}

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
bool Lane::is_own_process() const { return state_->is_own_process(); }

bool wait_for(const std::shared_ptr<Lane::State>& lane, const CollectiveWork& work,
              std::chrono::milliseconds timeout) {
  return lane->wait_for(work, timeout);
}

void call_soon(const std::shared_ptr<Lane::State>& lane, std::function<void()> callback,
               const std::weak_ptr<Origin>& made_in) {
  lane->call_soon(std::move(callback), made_in);
}

}  // namespace tutti_torch
