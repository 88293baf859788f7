#include <tutti/error.hpp>
#include <tutti/work.hpp>

#include "api/call/work_state.hpp"
#include "core/worker_pool.hpp"

namespace tutti {

Work::Work() = default;
Work::Work(std::shared_ptr<State> state) : state_(std::move(state)) {}

bool Work::test() const { return state_ == nullptr || state_->over(); }

void Work::wait() const {
  if (state_ == nullptr) return;
  while (state_->is_here() && !state_->wait_until(std::chrono::steady_clock::time_point::max())) {
  }
  state_->rethrow();
}

bool Work::wait_for(std::chrono::nanoseconds time) const {
  if (state_ == nullptr) return true;
  const auto now = std::chrono::steady_clock::now();
  constexpr auto end = std::chrono::steady_clock::time_point::max();
  const auto until = time < end - now ? now + time : end;
  if (state_->is_here() && !state_->wait_until(until)) return false;
  state_->rethrow();
  return true;
}

void Work::then(std::function<void(std::exception_ptr)> f) const {
  if (state_ != nullptr) {
    state_->then(std::move(f));
  } else {
    State done;
    done.finish(nullptr);
    done.then(std::move(f));
  }
}

Envelope Work::envelope() const {
  const std::vector<Envelope> all = envelopes();
  return all.empty() ? Envelope{} : all.front();
}
std::vector<Envelope> Work::envelopes() const {
  return state_ == nullptr ? std::vector<Envelope>() : state_->envelopes();
}

/// Calls the callbacks in a thread of the pool, since the thread that finished the work may hold
/// locks.
class Work::State::Calling final : public PoolTask {
 public:
  Calling(std::vector<Callback> callbacks, std::exception_ptr failure)
      : callbacks_(std::move(callbacks)), failure_(std::move(failure)) {}

  void run() override {
    const auto call_all = [this]() noexcept {
      for (const Callback& each : callbacks_) each(failure_);
    };
    call_all();
  }

 private:
  std::vector<Callback> callbacks_;
  std::exception_ptr failure_;
};

void Work::State::finish(std::exception_ptr failure) {
  std::unique_ptr<std::vector<Callback>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    callbacks = std::move(callbacks_);
    done_.store(true, std::memory_order_release);
    // Under the lock: a waiting thread may destroy this object as soon as the mutex is free.
    changed_.notify_all();
    if (!callbacks) return;
    failure = failure_;
  }
  WorkerPool::own().run_when_possible(
      std::make_shared<Calling>(std::move(*callbacks), std::move(failure)));
}

bool Work::State::wait_until(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  const auto is_done = [this] { return done(); };
  if (until == std::chrono::steady_clock::time_point::max()) {
    changed_.wait(lock, is_done);
    return true;
  }
  return changed_.wait_until(lock, until, is_done);
}

void Work::State::rethrow() const {
  if (const std::exception_ptr failure = outcome()) std::rethrow_exception(failure);
}

/// Takes no lock: in a forked child, a thread of the parent may hold it.
std::exception_ptr Work::State::outcome() const {
  if (done()) return failure_;
  return std::make_exception_ptr(
      Error(ErrorCode::aborted,
            "this call runs in the parent process, which started it: a forked child cannot wait "
            "for it"));
}

void Work::State::then(Callback f) {
  if (!f) throw Error(ErrorCode::invalid_argument, "Work::then(): the function is empty");
  std::exception_ptr failure;
  if (!is_here()) {
    failure = outcome();
  } else {
    const std::lock_guard lock(mutex_);
    if (!done()) {
      if (!callbacks_) callbacks_ = std::make_unique<std::vector<Callback>>();
      callbacks_->push_back(std::move(f));
      return;
    }
    failure = failure_;
  }
  std::vector<Callback> one;
  one.push_back(std::move(f));
  WorkerPool::own().run(std::make_shared<Calling>(std::move(one), std::move(failure)));
}

}  // namespace tutti
