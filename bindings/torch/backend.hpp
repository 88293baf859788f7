#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "communicator.hpp"
#include "host_tensor.hpp"
#include "lane.hpp"
#include "memory.hpp"
#include "work.hpp"

namespace c10d {
/// Torch defines it from 2.6 on.
enum class ErrorType;
}  // namespace c10d

namespace tutti_torch {

/// The c10d backend "tutti". Collectives run in the order of the calls, in a Lane of the group.
/// Sends and receives run independently of them.
///
/// Functions that torch declares only from some version on carry no `override`.
class Backend final : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using WorkPointer = c10::intrusive_ptr<c10d::Work>;

  struct Options final : c10d::Backend::Options {
    explicit Options(std::chrono::milliseconds limit = kBackendDefaultTimeout)
        : c10d::Backend::Options("tutti", limit) {}

    CommunicatorChoice choice{};
    bool is_in_use = false;  ///< A group has been made with these: Python may not change them.

    [[nodiscard]] c10::intrusive_ptr<Options> copy(bool for_use = false) const {
      auto made = c10::make_intrusive<Options>(*this);
      made->is_in_use = for_use;
      return made;
    }
    virtual c10::intrusive_ptr<c10d::Backend::Options> clone() const { return copy(); }
  };

  /// Meets the other ranks through the store. Copies the options.
  Backend(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
          const c10::intrusive_ptr<Options>& options);
  /// Of a communicator that exists.
  Backend(std::shared_ptr<Communicator> communicator, c10::intrusive_ptr<c10d::Store> store,
          const c10::intrusive_ptr<Options>& options);
  ~Backend() override;

  // Properties --------------------------------------------------------------------------------

  const std::string getBackendName() const override { return "tutti"; }
  /// For another group: torch changes them.
  virtual c10::intrusive_ptr<c10d::Backend::Options> getBackendOptions() {
    return options_->clone();
  }
  [[nodiscard]] const c10::intrusive_ptr<Options>& options() const { return options_; }
  virtual bool supportsSplitting() const { return true; }
  virtual bool supportsCoalescing() const { return true; }
  virtual bool supportsShrinking() const { return true; }
  virtual bool supportsTensorAlloc(c10::DeviceIndex device) { return device < 0; }
  virtual at::Tensor allocateTensor(long size, at::TensorOptions options = {});
  virtual std::shared_ptr<c10::Allocator> getMemAllocator() { return shared_memory_allocator(); }
  virtual void setTimeout(std::chrono::milliseconds timeout);
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return sequence_; }
  virtual void enableCollectivesTiming() {}

  // Reductions --------------------------------------------------------------------------------

  WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts = {}) override;
  /// Out of place, without a copy of the input: c10d has no such call.
  WorkPointer allreduce_into(const at::Tensor& output, const at::Tensor& input,
                             const c10d::AllreduceOptions& opts);
  WorkPointer allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts = {}) override;
  WorkPointer allreduce_coalesced(Tensors& tensors,
                                  const c10d::AllreduceCoalescedOptions& opts = {}) override;
  WorkPointer reduce(Tensors& tensors, const c10d::ReduceOptions& opts = {}) override;
  WorkPointer reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                             const c10d::ReduceScatterOptions& opts = {}) override;
  WorkPointer _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                   const c10d::ReduceScatterOptions& opts = {}) override;
  WorkPointer reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::ReduceScatterOptions& opts = {}) override;

  // Movements ---------------------------------------------------------------------------------

  WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts = {}) override;
  WorkPointer allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                        const c10d::AllgatherOptions& opts = {}) override;
  WorkPointer _allgather_base(at::Tensor& output, at::Tensor& input,
                              const c10d::AllgatherOptions& opts = {}) override;
  WorkPointer allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                  const c10d::AllgatherOptions& opts = {}) override;
  WorkPointer allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::AllgatherOptions& opts = {}) override;
  WorkPointer gather(std::vector<Tensors>& outputs, Tensors& inputs,
                     const c10d::GatherOptions& opts = {}) override;
  virtual WorkPointer gather_into_tensor(at::Tensor& output, at::Tensor& input,
                                         const c10d::GatherOptions& opts = {});
  WorkPointer scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                      const c10d::ScatterOptions& opts = {}) override;
  WorkPointer alltoall_base(at::Tensor& output, at::Tensor& input,
                            std::vector<int64_t>& output_splits, std::vector<int64_t>& input_splits,
                            const c10d::AllToAllOptions& opts = {}) override;
  WorkPointer alltoall(Tensors& outputs, Tensors& inputs,
                       const c10d::AllToAllOptions& opts = {}) override;

  // Synchronisation ---------------------------------------------------------------------------

  WorkPointer barrier(const c10d::BarrierOptions& opts = {}) override;
  void monitoredBarrier(const c10d::BarrierOptions& opts = {},
                        bool wait_all_ranks = false) override;
  void startCoalescing() override;
  WorkPointer endCoalescing() override;

  // Messages ----------------------------------------------------------------------------------

  WorkPointer send(Tensors& tensors, int to, int tag) override;
  WorkPointer recv(Tensors& tensors, int from, int tag) override;
  WorkPointer recvAnysource(Tensors& tensors, int tag) override;

  // Groups and failure ------------------------------------------------------------------------

  virtual c10::intrusive_ptr<c10d::Backend> split(
      const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
      const c10::intrusive_ptr<c10d::Backend::Options>& opts);
  virtual c10::intrusive_ptr<c10d::Backend> merge(
      const c10::intrusive_ptr<c10d::Store>& store,
      const c10::intrusive_ptr<c10d::Backend::Options>& opts, const int& rank, const int& size);
  virtual c10::intrusive_ptr<c10d::Backend> shrink(
      const std::vector<int64_t>& ranks_to_exclude, int flags = 0,
      const c10::intrusive_ptr<c10d::Backend::Options>& opts = nullptr);
  virtual void abort();
  virtual void shutdown();
  virtual c10d::ErrorType getError();
  /// Why the group failed, and the ranks that caused it.
  [[nodiscard]] Failure failure() const;
#ifdef C10D_BACKEND_HAS_RECONFIGURE
  bool supportsReconfigure() const override { return true; }
  c10d::ReconfigureHandle get_reconfigure_handle() const override;
  WorkPointer reconfigure(const c10d::ReconfigureOptions& opts) override;
#endif

  // Observing ---------------------------------------------------------------------------------

  virtual void registerOnCompletionHook(
      std::function<void(std::shared_ptr<c10d::WorkInfo>)>&& hook);
  virtual void waitForPendingWorks();

  /// Called when the interpreter exits: ends what is under way in all groups, because no thread may
  /// need Python afterwards.
  static void leave_all();

 private:
  void begin();
  void end_calls();
  void leave();
  void release();

  /// A call before it is started.
  struct Launch {
    c10d::OpType type = c10d::OpType::UNKNOWN;
    const char* title = nullptr;
    std::chrono::milliseconds timeout{0};
    bool is_async = true;
    Tensors result{};
    /// For the profiler. None: those of the result.
    Tensors inputs{};
    /// The memory that the call uses. None: that of the result.
    Tensors memory{};
  };
  template <class Opts>
  [[nodiscard]] Launch launch_of(c10d::OpType type, const char* title, const Opts& opts) const;
  /// Runs the body in the lane. If the caller waits for it anyway, it runs now, and if torch
  /// accepts it, there is no work (null): to make one and to show it to Python takes torch 3 µs.
  template <class Body>
  WorkPointer start(Launch launch, Body body);
  [[nodiscard]] bool needs_work(const Launch& launch) const;
  /// False: other calls come first, and this one was not run.
  bool run_now(const Launch& launch, c10::function_ref<void(tuttiComm_t)> body);
  WorkPointer start_work(Launch launch, std::function<void(tuttiComm_t)> body);
  WorkPointer keep_if_coalescing(WorkPointer work);
  [[nodiscard]] bool is_coalescing() const {
    return coalescing_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  [[nodiscard]] std::chrono::milliseconds timeout_of(std::chrono::milliseconds asked) const;
  /// Throws if there is none.
  [[nodiscard]] std::shared_ptr<Communicator> communicator() const;
  [[nodiscard]] std::shared_ptr<Communicator> communicator_or_none() const;
  [[nodiscard]] std::shared_ptr<Communicator> take_communicator();
  [[nodiscard]] int root_of(int64_t root, const char* call) const;
  WorkPointer receive(Tensors& tensors, int from, int tag, c10d::OpType type, const char* title);
  void monitor(const std::string& prefix, std::chrono::milliseconds timeout, bool wait_all_ranks);

  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<Options> options_;
  std::atomic<int64_t> timeout_ms_;
  mutable std::mutex communicator_mutex_;  // A callback may use it while another thread shuts down.
  std::shared_ptr<Communicator> communicator_;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();
  std::unique_ptr<Lane> lane_ = std::make_unique<Lane>();
  std::atomic<uint64_t> sequence_{0};
  uint64_t monitored_ = 0;
  // The thread that coalesces its calls. Callbacks may make calls meanwhile, which are not of
  // these.
  std::atomic<std::thread::id> coalescing_{};
  std::vector<WorkPointer> coalesced_;
  mutable std::string handle_;  // Of the next reconfiguration.
};

template <class Opts>
Backend::Launch Backend::launch_of(c10d::OpType type, const char* title, const Opts& opts) const {
  Launch launch{.type = type, .title = title, .timeout = timeout_of(opts.timeout)};
  // The options of older versions of torch do not tell.
  if constexpr (requires { opts.asyncOp; }) launch.is_async = opts.asyncOp;
  return launch;
}

template <class Body>
Backend::WorkPointer Backend::start(Launch launch, Body body) {
  if (!needs_work(launch) && run_now(launch, body)) return nullptr;
  return start_work(std::move(launch), std::move(body));
}

}  // namespace tutti_torch
