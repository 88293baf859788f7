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

/// How tensors are put into buckets, and what is done with them. The same on all ranks.
struct BucketOptions {
  /// A bucket takes tensors as long as it holds no more than this; a larger tensor has its own.
  std::uint64_t bucket_bytes = 25ULL << 20;
  /// The bucket of tensor 0 is smaller, so that there is soon something to send.
  std::uint64_t first_bucket_bytes = 1ULL << 20;
  Reduction reduction = Op::avg;
  /// For the allreduce of every bucket.
  CallOptions call{};
};

/// Where a Bucketer is in its work.
enum class BucketerState : std::uint8_t {
  idle,     ///< Between two steps: all tensors are the caller's.
  in_step,  ///< Some tensors were made ready; finish() ends it.
  failed,   ///< An allreduce failed: make a new one.
};

[[nodiscard]] TUTTI_API std::string_view name(BucketerState state);

/// What a Bucketer has done so far.
struct BucketerCounters {
  std::uint64_t steps = 0;             ///< Finished ones.
  std::uint64_t allreduces = 0;        ///< Begun ones, one for each bucket.
  std::uint64_t bytes_copied_in = 0;   ///< Into buckets, by ready().
  std::uint64_t bytes_copied_out = 0;  ///< Back from them, by wait() and finish().
};

/// Reduces many tensors over all ranks in few allreduces, while the caller still computes: the
/// gradients of a backward pass.
///
///   tutti::Bucketer bucketer(comm, tensors);
///   for (each step) {
///     for (each tensor i, as soon as it is there) bucketer.ready(i);
///     bucketer.finish();
///   }
///
/// Tensors are declared once, in about the order in which they will be ready, and go into buckets
/// in that order, each dtype into its own. When a bucket's last tensor is ready and the buckets
/// before it are under way, its allreduce begins. Ranks may make tensors ready in different orders:
/// buckets are reduced in the same one everywhere.
///
/// What is copied: if the tensors of a bucket follow each other in memory, in the order of their
/// declaration or, on all ranks, in the opposite one (as those of a flat buffer that is filled from
/// its end), they are reduced where they stand. Otherwise they are copied into the bucket and
/// back. A tensor declared without memory stands in its bucket, and is not copied either; data()
/// says where. Buckets are memory as from tutti::allocate() and stay for the life of the Bucketer.
///
/// What runs where: ready() copies into the bucket, in the caller's thread, when what was just
/// computed is still in its cache. The allreduces run in a thread of the Bucketer. Copying back is
/// done by the caller in wait() and finish(), while later buckets are still being reduced: in the
/// other thread it would keep not one rank waiting but all. A repeated step takes no memory.
///
/// One thread at a time may call a Bucketer. It has a communicator of its own, so calls on the one
/// that it was made from may come between, at any time.
class TUTTI_API Bucketer {
 public:
  /// All ranks make it together. Throws mismatch on all of them if they do not declare the same
  /// tensors, but for where these stand, and the same options.
  Bucketer(Communicator& communicator, std::span<const Tensor> tensors,
           const BucketOptions& options = {});
  Bucketer(Bucketer&&) noexcept;
  Bucketer& operator=(Bucketer&&) noexcept;
  /// Waits for the allreduces that are under way; what was not brought back is lost.
  ~Bucketer();

  /// The tensor holds what this rank contributes, and is not the caller's until it is back.
  /// Throws invalid_argument, with nothing done, for a tensor that is ready already.
  void ready(std::size_t tensor);
  /// Whether the result could be brought back without waiting.
  [[nodiscard]] bool test(std::size_t tensor) const;
  /// Waits until the result is back in the tensor. Throws invalid_argument if it is not under way
  /// because some tensor of its bucket, or of one before it, is not ready.
  void wait(std::size_t tensor);
  /// Waits until all results are back; then the next step can begin. Throws invalid_argument if
  /// tensors are not ready yet: the step goes on, and finish() can be called again.
  ///
  /// Whoever first finds that an allreduce failed, one of ready(), wait() and finish(), throws what
  /// went wrong. By then nothing is under way any more, and the tensors of buckets that were not
  /// brought back hold anything. After that every call throws aborted.
  void finish();

  /// Where a tensor stands: as declared, or in its bucket.
  [[nodiscard]] void* data(std::size_t tensor) const;

  [[nodiscard]] BucketerState state() const;
  [[nodiscard]] std::size_t tensors() const;
  [[nodiscard]] std::size_t buckets() const;
  [[nodiscard]] std::size_t bucket_of(std::size_t tensor) const;
  [[nodiscard]] const BucketerCounters& counters() const;
  /// "1000 tensors in 41 buckets, 41 of them in place, 0 copied".
  [[nodiscard]] std::string description() const;

  class TUTTI_HIDDEN Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti
