#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/work.hpp>

#include "core/process_origin.hpp"

namespace tutti {

/// The state that a Work shares with the thread that runs the call.
class Work::State {
 public:
  State() = default;
  virtual ~State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void finish(std::exception_ptr failure);

  /// True if the call is done, or in a forked child, which cannot wait for a call of its parent.
  [[nodiscard]] bool over() const { return done() || !origin_.is_here(); }

  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }

  /// Waits until the call is done or the time is over. Returns true if it is done. An override may
  /// make progress in the waiting thread.
  [[nodiscard]] virtual bool wait_until(std::chrono::steady_clock::time_point until);
  /// Throws the error of the call, if any; aborted in a forked child for a call of its parent.
  void rethrow() const;
  [[nodiscard]] bool is_here() const { return origin_.is_here(); }
  [[nodiscard]] virtual std::vector<Envelope> envelopes() const { return {}; }

  void then(std::function<void(std::exception_ptr)> f);

 private:
  using Callback = std::function<void(std::exception_ptr)>;
  class Calling;

  /// The error; null if the call succeeded.
  [[nodiscard]] std::exception_ptr outcome() const;

  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  std::unique_ptr<std::vector<Callback>> callbacks_;  // Null if there are none.
  ProcessOrigin origin_{};
};

}  // namespace tutti
