#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/distil.cpp"
#include "kernels/distil.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/exact-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

/// Elements that are processed together, so that their addends stay in the L1 cache.
constexpr std::size_t block = 256;

template <class T>
struct Row {
  alignas(64) T elements[block];
};

/// The result of one pass over a block of `rows` addends. The pass writes their sums to the plane
/// and the rounding errors to rows − 1 rows.
struct Passed {
  bool is_exact = false;   // There was no rounding error.
  bool is_finite = false;  // Neither sums nor addends are infinite or NaN.
};

template <class T>
Passed pass(std::vector<Row<T>>& addends, std::size_t rows, T* plane) {
  const hn::ScalableTag<T> tag;
  const hn::RebindToUnsigned<decltype(tag)> bits;
  auto left = hn::Zero(bits);
  auto non_finite = hn::Zero(bits);
  for (std::size_t at = 0; at < block; at += hn::Lanes(tag)) {
    auto sum = hn::Load(tag, addends[0].elements + at);
    for (std::size_t k = 1; k < rows; ++k) {
      const auto x = hn::Load(tag, addends[k].elements + at);
      const auto next = hn::Add(sum, x);
      const auto error = error_of_sum(sum, x, next);
      left = hn::Or(left, hn::BitCast(bits, hn::Abs(error)));
      hn::Store(error, tag, addends[k - 1].elements + at);
      sum = next;
    }
    // x − x is zero except for infinities and NaN.
    non_finite = hn::Or(non_finite, hn::BitCast(bits, hn::Sub(sum, sum)));
    hn::Store(sum, tag, plane + at);
  }
  return {.is_exact = hn::AllTrue(bits, hn::Eq(left, hn::Zero(bits))),
          .is_finite = hn::AllTrue(bits, hn::Eq(non_finite, hn::Zero(bits)))};
}

template <class T>
std::size_t distil_all(void* const* planes, const void* const* in, std::size_t operands,
                       std::size_t count) {
  std::vector<Row<T>> addends(operands);
  Row<T> sums;
  std::size_t most = 1;
  for (std::size_t at = 0; at < count; at += block) {
    const std::size_t some = std::min(block, count - at);
    for (std::size_t k = 0; k < operands; ++k) {
      if (some < block) addends[k] = {};
      std::memcpy(addends[k].elements, static_cast<const T*>(in[k]) + at, some * sizeof(T));
    }
    std::size_t passes = 0;
    for (bool done = false; !done; ++passes) {
      const Passed passed = pass(addends, operands - passes, sums.elements);
      if (!passed.is_finite) return 0;
      std::memcpy(static_cast<T*>(planes[passes]) + at, sums.elements, some * sizeof(T));
      done = passed.is_exact;
    }
    // Clear the planes that this block does not need, and the earlier blocks of planes that only it
    // needs.
    for (std::size_t j = passes; j < most; ++j) {
      std::memset(static_cast<T*>(planes[j]) + at, 0, some * sizeof(T));
    }
    for (std::size_t j = most; j < passes; ++j) std::memset(planes[j], 0, at * sizeof(T));
    most = std::max(most, passes);
  }
  return most;
}

std::size_t distil_any(DType dtype, void* const* planes, const void* const* in,
                       std::size_t operands, std::size_t count) {
  switch (dtype) {
    case DType::f32:
      return distil_all<float>(planes, in, operands, count);
    case DType::complex64:
      return distil_all<float>(planes, in, operands, 2 * count);
    case DType::f64:
      return distil_all<double>(planes, in, operands, count);
    case DType::complex128:
      return distil_all<double>(planes, in, operands, 2 * count);
    default:
      return 0;
  }
}

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(distil_any);

std::size_t distil(DType dtype, void* const* planes, const void* const* in, std::size_t operands,
                   std::size_t count) {
  return TUTTI_BEST_VERSION(distil_any)(dtype, planes, in, operands, count);
}

}  // namespace tutti

#endif  // HWY_ONCE
