#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_f16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"
#include "kernels/half_sum.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

void add_f16(void* out, void* copy, const void* const* in, std::size_t operands,
             std::size_t count) {
  if (operands == 2 && add_halves(out, copy, in[0], in[1], count)) return;
  fold_all<Binary16, Sum>(out, copy, in, operands, count);
}

Fold choose_f16(Op op) {
  return op == Op::sum || op == Op::avg ? add_f16 : floating_fold<Binary16>(op);
}

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_f16);

Fold fold_f16(Op op) { return TUTTI_BEST_VERSION(choose_f16)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
