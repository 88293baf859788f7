#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_f64.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

Fold choose_f64(Op op) { return floating_fold<Plain<double>>(op); }
Fold choose_complex128(Op op) { return complex_fold<double>(op); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_f64);
TUTTI_VERSIONS(choose_complex128);

Fold fold_f64(Op op) { return TUTTI_BEST_VERSION(choose_f64)(op); }
Fold fold_complex128(Op op) { return TUTTI_BEST_VERSION(choose_complex128)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
