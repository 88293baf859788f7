#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/exact_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/exact-inl.hpp"
#include "kernels/fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

void sum_f32(void* out, void* copy, const void* const* in, std::size_t operands,
             std::size_t count) {
  if (operands == 2) return fold_all<Plain<float>, ExactPair>(out, copy, in, operands, count);
  exact_narrow<Plain<float>>(f32_format, out, copy, in, operands, count);
}

Fold choose_f32() { return sum_f32; }

void sum_complex64(void* out, void* copy, const void* const* in, std::size_t operands,
                   std::size_t count) {
  sum_f32(out, copy, in, operands, 2 * count);
}

Fold choose_complex64() { return sum_complex64; }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_f32);
TUTTI_VERSIONS(choose_complex64);

Fold exact_fold_f32() { return TUTTI_BEST_VERSION(choose_f32)(); }
Fold exact_fold_complex64() { return TUTTI_BEST_VERSION(choose_complex64)(); }

}  // namespace tutti

#endif  // HWY_ONCE
