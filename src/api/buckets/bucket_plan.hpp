#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/tensor.hpp>

namespace tutti {

/// Tensors that are reduced in one call.
struct Bucket {
  DType dtype = DType::f32;
  std::uint64_t count = 0;             ///< Elements of all its tensors.
  std::vector<std::uint32_t> tensors;  ///< In the order in which they stand in it.

  [[nodiscard]] std::uint64_t bytes() const { return count * size_of(dtype); }
};

/// Where a tensor stands among the buckets.
struct BucketPlace {
  std::uint32_t bucket = 0;
  std::uint64_t offset = 0;  ///< In bytes.

  friend bool operator==(const BucketPlace&, const BucketPlace&) = default;
};

struct BucketLimits {
  std::uint64_t first_bytes = 0;  ///< For the bucket of tensor 0.
  std::uint64_t bytes = 0;
};

/// Which tensor is in which bucket, and where in it. Buckets hold one dtype each, tensors without
/// gaps, and are in the order in which they can be complete if tensors are ready in their own
/// order. It depends on counts and dtypes only, so all ranks come to the same one.
struct BucketPlan {
  std::vector<Bucket> buckets;
  std::vector<BucketPlace> places;  ///< By tensor.
};

[[nodiscard]] BucketPlan plan_buckets(std::span<const Tensor> tensors, const BucketLimits& limits);

/// Puts the tensors of a bucket in the opposite order.
void reverse(BucketPlan& plan, std::size_t bucket, std::span<const Tensor> tensors);

/// Which way the tensors of a bucket follow each other in memory, without gaps. As bits: a bucket
/// of one tensor goes both ways.
enum class Contiguity : std::uint8_t { none = 0, forward = 1, backward = 2, both = 3 };

[[nodiscard]] Contiguity adjacency(const Bucket& bucket, std::span<const Tensor> tensors);

}  // namespace tutti
