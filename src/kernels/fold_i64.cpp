#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_i64.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

Fold choose_i64(Op op) { return integral_fold<std::int64_t>(op); }
Fold choose_u64(Op op) { return integral_fold<std::uint64_t>(op); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_i64);
TUTTI_VERSIONS(choose_u64);

Fold fold_i64(Op op) { return TUTTI_BEST_VERSION(choose_i64)(op); }
Fold fold_u64(Op op) { return TUTTI_BEST_VERSION(choose_u64)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
