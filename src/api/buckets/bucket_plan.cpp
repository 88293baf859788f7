#include "api/buckets/bucket_plan.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace tutti {
namespace {

constexpr std::size_t dtype_count = static_cast<std::size_t>(last_dtype) + 1;

/// Places the tensors of a bucket without gaps.
void set_places(BucketPlan& plan, std::size_t bucket, std::span<const Tensor> tensors) {
  std::uint64_t offset = 0;
  for (const std::uint32_t tensor : plan.buckets[bucket].tensors) {
    plan.places[tensor] = {.bucket = static_cast<std::uint32_t>(bucket), .offset = offset};
    offset += tensors[tensor].bytes();
  }
}

const std::byte* begin_of(const Tensor& tensor) {
  return static_cast<const std::byte*>(tensor.data);
}
const std::byte* end_of(const Tensor& tensor) { return begin_of(tensor) + tensor.bytes(); }

}  // namespace

BucketPlan plan_buckets(std::span<const Tensor> tensors, const BucketLimits& limits) {
  BucketPlan plan;
  std::vector<Bucket>& buckets = plan.buckets;
  std::array<std::optional<std::size_t>, dtype_count> open;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    std::optional<std::size_t>& current = open[static_cast<std::size_t>(tensor.dtype)];
    const auto is_full = [&](std::size_t bucket) {
      const std::uint64_t limit = bucket == 0 ? limits.first_bytes : limits.bytes;
      const std::uint64_t has = buckets[bucket].bytes();
      return has > 0 && (has >= limit || tensor.bytes() > limit - has);
    };
    if (!current || is_full(*current)) {
      current = buckets.size();
      buckets.push_back({.dtype = tensor.dtype, .count = 0, .tensors = {}});
    }
    buckets[*current].count += tensor.count;
    buckets[*current].tensors.push_back(i);
  }
  std::sort(buckets.begin(), buckets.end(),
            [](const Bucket& a, const Bucket& b) { return a.tensors.back() < b.tensors.back(); });
  plan.places.resize(tensors.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) set_places(plan, i, tensors);
  return plan;
}

void reverse(BucketPlan& plan, std::size_t bucket, std::span<const Tensor> tensors) {
  std::ranges::reverse(plan.buckets[bucket].tensors);
  set_places(plan, bucket, tensors);
}

Contiguity adjacency(const Bucket& bucket, std::span<const Tensor> tensors) {
  bool forward = true;
  bool backward = true;
  const Tensor* before = nullptr;
  for (const std::uint32_t i : bucket.tensors) {
    const Tensor& tensor = tensors[i];
    if (tensor.count == 0) continue;
    if (tensor.data == nullptr) return Contiguity::none;
    if (before != nullptr) {
      forward = forward && end_of(*before) == begin_of(tensor);
      backward = backward && end_of(tensor) == begin_of(*before);
    }
    before = &tensor;
  }
  return static_cast<Contiguity>((forward ? 1 : 0) | (backward ? 2 : 0));
}

}  // namespace tutti
