#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/exact_f16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/exact-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

void sum_f16(void* out, void* copy, const void* const* in, std::size_t operands,
             std::size_t count) {
  exact_narrow<Binary16>(f16_format, out, copy, in, operands, count);
}

Fold choose_f16() { return sum_f16; }

void sum_bf16(void* out, void* copy, const void* const* in, std::size_t operands,
              std::size_t count) {
  exact_narrow<Brain>(bf16_format, out, copy, in, operands, count);
}

Fold choose_bf16() { return sum_bf16; }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_f16);
TUTTI_VERSIONS(choose_bf16);

Fold exact_fold_f16() { return TUTTI_BEST_VERSION(choose_f16)(); }
Fold exact_fold_bf16() { return TUTTI_BEST_VERSION(choose_bf16)(); }

}  // namespace tutti

#endif  // HWY_ONCE
