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
  std::vector<std::uint32_t> tensors;  ///< In memory order.

  [[nodiscard]] std::uint64_t bytes() const { return count * size_of(dtype); }
};

/// The position of a tensor in its bucket.
struct BucketPlace {
  std::uint32_t bucket = 0;
  std::uint64_t offset = 0;  ///< In bytes.

  friend bool operator==(const BucketPlace&, const BucketPlace&) = default;
};

struct BucketLimits {
  std::uint64_t first_bytes = 0;  ///< For the bucket of tensor 0.
  std::uint64_t bytes = 0;
};

/// Assigns tensors to buckets. A bucket holds tensors of one dtype, without gaps. Buckets are in
/// the order in which they become complete if tensors become ready in their order. The plan depends
/// only on counts, dtypes and limits, so all ranks compute the same one.
struct BucketPlan {
  std::vector<Bucket> buckets;
  std::vector<BucketPlace> places;  ///< By tensor.
};

[[nodiscard]] BucketPlan plan_buckets(std::span<const Tensor> tensors, const BucketLimits& limits);

/// Reverses the order of the tensors in a bucket.
void reverse(BucketPlan& plan, std::size_t bucket, std::span<const Tensor> tensors);

/// In which order the tensors of a bucket are contiguous in memory. A bit mask: a bucket of one
/// tensor has both bits.
enum class Contiguity : std::uint8_t { none = 0, forward = 1, backward = 2, both = 3 };

[[nodiscard]] Contiguity adjacency(const Bucket& bucket, std::span<const Tensor> tensors);

}  // namespace tutti
