#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tutti/communicator.hpp>
#include <tutti/export.hpp>
#include <tutti/reduction.hpp>
#include <tutti/tensor.hpp>

namespace tutti {

/// How a Bucketer packs tensors into buckets and reduces them. Must be the same on all ranks.
struct BucketOptions {
  /// The maximum size of a bucket. A larger tensor gets a bucket of its own.
  std::uint64_t bucket_bytes = 25ULL << 20;
  /// The maximum size of the first bucket. It is smaller, so that communication starts early.
  std::uint64_t first_bucket_bytes = 1ULL << 20;
  Reduction reduction = Op::avg;
  /// For the allreduce of every bucket.
  CallOptions call{};
};

/// The state of a Bucketer.
enum class BucketerState : std::uint8_t {
  idle,     ///< Between two steps: the caller owns all tensors.
  in_step,  ///< Some tensors are ready; finish() ends the step.
  failed,   ///< An allreduce failed: make a new Bucketer.
};

[[nodiscard]] TUTTI_API std::string_view name(BucketerState state);

/// The work of a Bucketer so far.
struct BucketerCounters {
  std::uint64_t steps = 0;             ///< Finished steps.
  std::uint64_t allreduces = 0;        ///< Started allreduces, one per bucket and step.
  std::uint64_t bytes_copied_in = 0;   ///< Copied into buckets by ready().
  std::uint64_t bytes_copied_out = 0;  ///< Copied out of buckets by wait() and finish().
};

/// Reduces many tensors in few allreduces while the caller still computes. Example: the gradients
/// of a backward pass.
///
///   tutti::Bucketer bucketer(comm, tensors);
///   for (each step) {
///     for (each tensor i, as soon as it is computed) bucketer.ready(i);
///     bucketer.finish();
///   }
///
/// Tensors are declared once, in about the order in which they become ready. They are packed into
/// buckets in that order; a bucket holds one dtype. The allreduce of a bucket starts when all its
/// tensors are ready and the allreduces of all earlier buckets have started. Ranks may make tensors
/// ready in different orders; all ranks reduce the buckets in the same order.
///
/// Copies: the tensors of a bucket are reduced in place if they are contiguous in memory. Their
/// order in memory is that of the declaration or, on all ranks, its reverse (a flat buffer that is
/// filled from its end). Otherwise they are copied into the bucket and back. A tensor declared
/// without memory lives in its bucket and is never copied; data() returns its address. Buckets are
/// allocated as by tutti::allocate() and live as long as the Bucketer.
///
/// Threads: ready() copies into the bucket in the caller's thread, while the data is still in the
/// cache. The allreduces run in a thread of the Bucketer. wait() and finish() copy the results back
/// in the caller's thread, while later buckets are still being reduced. In the Bucketer's thread
/// this copy would delay all ranks, not only this one. A repeated step allocates no memory.
///
/// One thread at a time may call a Bucketer. It uses a communicator of its own, so calls on the
/// communicator that it was made from may be interleaved at any time.
class TUTTI_API Bucketer {
 public:
  /// All ranks must call this. Throws mismatch on all ranks if they declare different tensors or
  /// options. The addresses of the tensors may differ.
  Bucketer(Communicator& communicator, std::span<const Tensor> tensors,
           const BucketOptions& options = {});
  Bucketer(Bucketer&&) noexcept;
  Bucketer& operator=(Bucketer&&) noexcept;
  /// Waits for the allreduces under way. Results that were not copied back are lost.
  ~Bucketer();

  /// Marks a tensor as ready: it holds this rank's contribution. The caller must not touch it until
  /// its result is back. Throws invalid_argument, with nothing done, if it is ready already.
  void ready(std::size_t tensor);
  /// True if wait() would not block.
  [[nodiscard]] bool test(std::size_t tensor) const;
  /// Waits until the result is in the tensor. Throws invalid_argument if its allreduce has not
  /// started because a tensor of its bucket or of an earlier bucket is not ready.
  void wait(std::size_t tensor);
  /// Waits until all results are back; then the next step can begin. Throws invalid_argument if
  /// some tensors are not ready: the step continues and finish() can be called again.
  ///
  /// If an allreduce fails, the next ready(), wait() or finish() throws its error. No allreduce is
  /// under way then, and tensors whose bucket was not copied back have undefined content. Every
  /// later call throws aborted.
  void finish();

  /// The address of a tensor: as declared, or in its bucket.
  [[nodiscard]] void* data(std::size_t tensor) const;

  [[nodiscard]] BucketerState state() const;
  [[nodiscard]] std::size_t tensors() const;
  [[nodiscard]] std::size_t buckets() const;
  [[nodiscard]] std::size_t bucket_of(std::size_t tensor) const;
  [[nodiscard]] const BucketerCounters& counters() const;
  /// Counters of this rank's allreduces, by peer: one per bucket and step, and a few small ones of
  /// the constructor. Call it between two steps.
  [[nodiscard]] Counters traffic() const;
  /// "1000 tensors in 41 buckets, 41 of them in place, 0 copied".
  [[nodiscard]] std::string description() const;

  class TUTTI_HIDDEN Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti
