#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ThreadLocalState.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "communicator.hpp"
#include "lane.hpp"
#include "storage_lock.hpp"

namespace tutti_torch {

/// What is the same for all works.
struct WorkLabel {
  int rank = 0;
  c10d::OpType type = c10d::OpType::UNKNOWN;
  const char* title = nullptr;  ///< "tutti:all_reduce", for torch's profiler.
  uint64_t sequence = 0;
  std::chrono::milliseconds timeout{0};

  /// The name of the call in error messages: "all_reduce".
  [[nodiscard]] std::string call() const;
};

/// Whether torch's profiler wants to know of works. Then each takes a microsecond more.
[[nodiscard]] bool is_profiled();

/// The future of a work. Made when it is first asked for, since few callers do. Its value is the
/// list of the result tensors.
class LazyFuture {
 public:
  [[nodiscard]] c10::intrusive_ptr<c10::ivalue::Future> get(const std::vector<at::Tensor>& result);
  /// The work is done. True: a future waits for tell(), which runs its callbacks.
  [[nodiscard]] bool complete(const std::exception_ptr& failure);
  /// Does nothing if no future waits for it.
  void tell(const std::vector<at::Tensor>& result);
  /// For a work that is done: returns when its future, if there is one, has its value.
  void await();

 private:
  static void finish(c10::ivalue::Future& future, const std::vector<at::Tensor>& result,
                     const std::exception_ptr& failure);

  std::mutex mutex_;
  bool is_complete_ = false;
  bool has_to_tell_ = false;
  std::exception_ptr failure_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// A collective: a body that the lane runs once. It and its callbacks run with the thread-local
/// state of the call: inference mode, autocast, the profiler.
class CollectiveWork final : public c10d::Work {
 public:
  /// Told when the work is done.
  using Observer = std::function<void(const std::shared_ptr<c10d::WorkInfo>&)>;

  struct Parts {
    std::vector<at::Tensor> inputs{};  ///< For the profiler.
    std::vector<at::Tensor> result{};
    std::shared_ptr<Communicator> group{};
    std::function<void(tuttiComm_t)> body{};
    Observer observer{};
    StorageLock memory{};
  };
  CollectiveWork(const WorkLabel& label, std::shared_ptr<Lane::State> lane, Parts parts);

  bool isCompleted() override { return is_over(); }
  bool isSuccess() const override { return is_over() && exception_ == nullptr; }
  std::exception_ptr exception() const override { return is_over() ? exception_ : nullptr; }
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override {}
  /// The lane ends a call when its communicator is aborted.
  void abort() override {}
  std::vector<at::Tensor> result() override { return result_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_.get(result_); }
  float getDuration() const override;
  uint64_t getSequencenumber() const override { return label_.sequence; }
  /// Torch declares it from 2.14 on.
  virtual std::chrono::milliseconds getTimeout() const { return label_.timeout; }

  /// Of which callbacks, if any, this is a call.
  [[nodiscard]] const std::weak_ptr<Origin>& made_in() const { return made_in_; }
  [[nodiscard]] bool is_over() const { return is_over_.load(std::memory_order_acquire); }

  // For the lane: perform() runs the body, mark_over() lets waiting threads go on, announce() calls
  // the callbacks of the future and the observer. perform() returns whether there are any.
  [[nodiscard]] bool perform() noexcept;
  void mark_over() { is_over_.store(true, std::memory_order_release); }
  void announce() noexcept;

 private:
  WorkLabel label_;
  std::shared_ptr<Lane::State> lane_;
  at::ThreadLocalState state_;  // Of the thread that made the call.
  std::weak_ptr<Origin> made_in_ = origin_of_calls();
  std::vector<at::Tensor> result_;
  std::shared_ptr<Communicator> group_;
  std::function<void(tuttiComm_t)> body_;
  Observer observer_;
  StorageLock memory_;
  LazyFuture future_;
  std::atomic<bool> is_over_{false};
  std::chrono::steady_clock::time_point began_{};
  std::chrono::steady_clock::time_point ended_{};
};

/// Several works as one: the end of coalescing.
class JointWork final : public c10d::Work {
 public:
  JointWork(const WorkLabel& label, std::vector<c10::intrusive_ptr<c10d::Work>> works);

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override {}
  void abort() override {}
  std::vector<at::Tensor> result() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  uint64_t getSequencenumber() const override { return label_.sequence; }

 private:
  WorkLabel label_;
  std::vector<c10::intrusive_ptr<c10d::Work>> works_;
};

}  // namespace tutti_torch
