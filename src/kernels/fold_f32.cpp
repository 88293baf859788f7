#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

Fold choose_f32(Op op) { return floating_fold<Plain<float>>(op); }
Fold choose_complex64(Op op) { return complex_fold<float>(op); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_f32);
TUTTI_VERSIONS(choose_complex64);

Fold fold_f32(Op op) { return TUTTI_BEST_VERSION(choose_f32)(op); }
Fold fold_complex64(Op op) { return TUTTI_BEST_VERSION(choose_complex64)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
