#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_i16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

Fold choose_i16(Op op) { return integral_fold<std::int16_t>(op); }
Fold choose_u16(Op op) { return integral_fold<std::uint16_t>(op); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tutti {

HWY_EXPORT(choose_i16);
HWY_EXPORT(choose_u16);

Fold fold_i16(Op op) { return HWY_DYNAMIC_DISPATCH(choose_i16)(op); }
Fold fold_u16(Op op) { return HWY_DYNAMIC_DISPATCH(choose_u16)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
