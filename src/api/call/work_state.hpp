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

/// What a Work and the thread that does it share.
class Work::State {
 public:
  State() = default;
  virtual ~State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void finish(std::exception_ptr failure);

  /// A forked child does not see the end of what its parent does: there it is over.
  [[nodiscard]] bool over() const { return done() || !origin_.is_here(); }

  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }

  /// Waits until the time, at most. Whether it is done. Who waits for something that needs a hand
  /// gives it one.
  [[nodiscard]] virtual bool wait_until(std::chrono::steady_clock::time_point until);
  /// Throws what went wrong. In a forked child nothing that its parent does can be waited for.
  void rethrow() const;
  [[nodiscard]] bool is_here() const { return origin_.is_here(); }
  [[nodiscard]] virtual std::vector<Envelope> envelopes() const { return {}; }

  void then(std::function<void(std::exception_ptr)> f);

 private:
  using Callback = std::function<void(std::exception_ptr)>;
  class Calling;

  /// What went wrong; null if all is well.
  [[nodiscard]] std::exception_ptr outcome() const;

  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  std::unique_ptr<std::vector<Callback>> callbacks_;  // Null unless there are any.
  ProcessOrigin origin_{};
};

}  // namespace tutti
