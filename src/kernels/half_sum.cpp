// Compiled for processors with arithmetic in f16 (see CMakeLists.txt), so it must not use inline
// functions of other headers: the linker might keep this version of them for all processors.
#include "kernels/half_sum.hpp"

#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC) && defined(__linux__)

#include <arm_neon.h>
#include <sys/auxv.h>

namespace tutti {
namespace {

/// HWCAP_ASIMDHP of <asm/hwcap.h>.
constexpr unsigned long adds_halves = 1UL << 10;

constexpr std::size_t lanes = 8;

float16x8_t sum_at(const std::byte* a, const std::byte* b) {
  const float16x8_t left = vreinterpretq_f16_u8(vld1q_u8(reinterpret_cast<const uint8_t*>(a)));
  const float16x8_t right = vreinterpretq_f16_u8(vld1q_u8(reinterpret_cast<const uint8_t*>(b)));
  return vaddq_f16(left, right);
}

void store(std::byte* to, float16x8_t v) {
  vst1q_u8(reinterpret_cast<uint8_t*>(to), vreinterpretq_u8_f16(v));
}

}  // namespace

bool add_halves(void* out, void* copy, const void* a, const void* b, std::size_t count) {
  static const bool can = (getauxval(AT_HWCAP) & adds_halves) != 0;
  if (!can) return false;
  const auto* const left = static_cast<const std::byte*>(a);
  const auto* const right = static_cast<const std::byte*>(b);
  auto* const to = static_cast<std::byte*>(out);
  auto* const also = static_cast<std::byte*>(copy);
  constexpr std::size_t step = lanes * 2;
  const std::size_t bytes = count * 2;
  std::size_t at = 0;
  for (; at + 4 * step <= bytes; at += 4 * step) {
    const float16x8_t v0 = sum_at(left + at, right + at);
    const float16x8_t v1 = sum_at(left + at + step, right + at + step);
    const float16x8_t v2 = sum_at(left + at + 2 * step, right + at + 2 * step);
    const float16x8_t v3 = sum_at(left + at + 3 * step, right + at + 3 * step);
    store(to + at, v0);
    store(to + at + step, v1);
    store(to + at + 2 * step, v2);
    store(to + at + 3 * step, v3);
    if (also == nullptr) continue;
    store(also + at, v0);
    store(also + at + step, v1);
    store(also + at + 2 * step, v2);
    store(also + at + 3 * step, v3);
  }
  for (; at < bytes; at += 2) {
    __fp16 x;
    __fp16 y;
    __builtin_memcpy(&x, left + at, 2);
    __builtin_memcpy(&y, right + at, 2);
    // Promoted to float, which rounds the same: it has more than twice the digits.
    const auto sum = static_cast<__fp16>(x + y);
    __builtin_memcpy(to + at, &sum, 2);
    if (also != nullptr) __builtin_memcpy(also + at, &sum, 2);
  }
  return true;
}

}  // namespace tutti

#else

namespace tutti {

bool add_halves(void* /*out*/, void* /*copy*/, const void* /*a*/, const void* /*b*/,
                std::size_t /*count*/) {
  return false;
}

}  // namespace tutti

#endif
