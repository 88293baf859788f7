#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_i8.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

Fold choose_i8(Op op) { return integral_fold<std::int8_t>(op); }
Fold choose_u8(Op op) { return integral_fold<std::uint8_t>(op); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_i8);
TUTTI_VERSIONS(choose_u8);

Fold fold_i8(Op op) { return TUTTI_BEST_VERSION(choose_i8)(op); }
Fold fold_u8(Op op) { return TUTTI_BEST_VERSION(choose_u8)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
