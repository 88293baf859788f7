#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_f8.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"
#include "kernels/fp8_sum.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

void sum_e4m3(void* out, void* copy, const void* const* in, std::size_t operands,
              std::size_t count) {
  if (operands == 2 && add_e4m3(out, copy, in[0], in[1], count)) return;
  fold_all<E4M3, Sum>(out, copy, in, operands, count);
}

void sum_e5m2(void* out, void* copy, const void* const* in, std::size_t operands,
              std::size_t count) {
  if (operands == 2 && add_e5m2(out, copy, in[0], in[1], count)) return;
  fold_all<E5M2, Sum>(out, copy, in, operands, count);
}

Fold choose_f8e4m3(Op op) {
  return op == Op::sum || op == Op::avg ? sum_e4m3 : floating_fold<E4M3>(op);
}
Fold choose_f8e5m2(Op op) {
  return op == Op::sum || op == Op::avg ? sum_e5m2 : floating_fold<E5M2>(op);
}

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_f8e4m3);
TUTTI_VERSIONS(choose_f8e5m2);

Fold fold_f8e4m3(Op op) { return TUTTI_BEST_VERSION(choose_f8e4m3)(op); }
Fold fold_f8e5m2(Op op) { return TUTTI_BEST_VERSION(choose_f8e5m2)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
