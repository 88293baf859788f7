#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_f16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

Fold choose_f16(Op op) { return floating_fold<Binary16>(op); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tutti {

HWY_EXPORT(choose_f16);

Fold fold_f16(Op op) { return HWY_DYNAMIC_DISPATCH(choose_f16)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
