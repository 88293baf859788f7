#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_bf16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

Fold choose_bf16(Op op) { return floating_fold<Brain>(op); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tutti {

HWY_EXPORT(choose_bf16);

Fold fold_bf16(Op op) { return HWY_DYNAMIC_DISPATCH(choose_bf16)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
