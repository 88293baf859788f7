#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/exact_f64.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/exact-inl.hpp"
#include "kernels/fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

void sum_f64(void* out, void* copy, const void* const* in, std::size_t operands,
             std::size_t count) {
  if (operands == 2) return fold_all<Double64, ExactPair>(out, copy, in, operands, count);
  exact_wide(out, copy, in, operands, count);
}

Fold choose_f64() { return sum_f64; }

void sum_complex128(void* out, void* copy, const void* const* in, std::size_t operands,
                    std::size_t count) {
  sum_f64(out, copy, in, operands, 2 * count);
}

Fold choose_complex128() { return sum_complex128; }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_f64);
TUTTI_VERSIONS(choose_complex128);

Fold exact_fold_f64() { return TUTTI_BEST_VERSION(choose_f64)(); }
Fold exact_fold_complex128() { return TUTTI_BEST_VERSION(choose_complex128)(); }

}  // namespace tutti

#endif  // HWY_ONCE
