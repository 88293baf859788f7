#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <ATen/ThreadLocalState.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <tutti/tutti.h>

#include "communicator.hpp"
#include "host_tensor.hpp"
#include "lane.hpp"
#include "storage_lock.hpp"
#include "work.hpp"

namespace tutti_torch {

/// A send or a receive. The memory stays valid until it is done, also if the work is dropped.
class MessageWork final : public c10d::Work {
 public:
  struct Parts {
    std::shared_ptr<Communicator> communicator;
    HostTensor host;
    at::Tensor tensor;  ///< As the caller passed it.
    StorageLock memory;
    std::shared_ptr<Lane::State> lane;  ///< Its threads call the callbacks.
    bool receives = false;
  };
  /// Takes the work of the C API.
  MessageWork(const WorkLabel& label, tuttiWork_t work, Parts parts);
  ~MessageWork() override;

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  int sourceRank() const override;
  /// Returns when the future, too, has its value.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override {}
  void abort() override;
  std::vector<at::Tensor> result() override { return state_->result(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  uint64_t getSequencenumber() const override { return state_->label.sequence; }
  virtual std::chrono::milliseconds getTimeout() const { return state_->label.timeout; }

 private:
  /// Shared with the callbacks of the C API, which may come after the work is dropped.
  struct State {
    WorkLabel label;
    Parts parts;
    tuttiWork_t work = nullptr;
    at::ThreadLocalState caller{};  // That of the thread that made the call.
    std::weak_ptr<Origin> made_in = origin_of_calls();
    LazyFuture future{};
    std::mutex mutex{};
    bool is_settled = false;
    std::exception_ptr failure{};
    int source = -1;

    State(const WorkLabel& label_, tuttiWork_t work_, Parts parts_)
        : label(label_), parts(std::move(parts_)), work(work_) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { (void)tuttiWorkDestroy(work); }

    [[nodiscard]] std::vector<at::Tensor> result() const { return {parts.tensor}; }
    /// Once, when the message has been sent or received: checks its length and stores it.
    void settle(tuttiResult_t outcome) noexcept;
    void check_and_store(tuttiResult_t outcome);
  };
  /// Lets a thread of tutti call settle(). That thread moves all messages of the group, so it must
  /// not run what the program does next: the lane completes the future. Once.
  tuttiResult_t settle_in_background();
  void end(const std::exception_ptr& failure);

  std::shared_ptr<State> state_;
  std::atomic<bool> has_callback_{false};
  bool has_ended_ = false;
};

}  // namespace tutti_torch
