#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_i32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

Fold choose_i32(Op op) { return integral_fold<std::int32_t>(op); }
Fold choose_u32(Op op) { return integral_fold<std::uint32_t>(op); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_i32);
TUTTI_VERSIONS(choose_u32);

Fold fold_i32(Op op) { return TUTTI_BEST_VERSION(choose_i32)(op); }
Fold fold_u32(Op op) { return TUTTI_BEST_VERSION(choose_u32)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
