// Compiled for processors with arithmetic in f16 (see CMakeLists.txt), so it must not use inline
// functions of other headers: the linker might keep this version of them for all processors.
//
// The sum is rounded to the 11 bits of f16, then to the 3 or 4 bits of the result. That is the same
// as to round once: with at least 2q + 2 bits in between, no first rounding makes a tie of q bits
// (S. A. Figueroa, "When is double rounding innocuous?", 1995).
#include "kernels/fp8_sum.hpp"

#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC) && defined(__linux__)

#include <arm_neon.h>
#include <sys/auxv.h>

namespace tutti {
namespace {

/// HWCAP_ASIMDHP of <asm/hwcap.h>.
constexpr unsigned long adds_halves = 1UL << 10;

constexpr std::size_t lanes = 16;

/// Sixteen numbers as f16, in two vectors.
struct Halves {
  uint16x8_t low;
  uint16x8_t high;
};

/// The bytes as upper halves.
Halves widened(uint8x16_t bytes) {
  return {.low = vreinterpretq_u16_u8(vzip1q_u8(vdupq_n_u8(0), bytes)),
          .high = vreinterpretq_u16_u8(vzip2q_u8(vdupq_n_u8(0), bytes))};
}

uint16x8_t add(uint16x8_t a, uint16x8_t b) {
  return vreinterpretq_u16_f16(vaddq_f16(vreinterpretq_f16_u16(a), vreinterpretq_f16_u16(b)));
}

uint8x16_t upper(uint16x8_t low, uint16x8_t high) {
  return vuzp2q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}

/// The upper bytes, rounded to nearest even: plus the top bit of the lower byte, after that is
/// decreased by one if the upper byte is even.
uint8x16_t rounded(uint16x8_t low, uint16x8_t high) {
  const uint8x16_t upper_bytes = upper(low, high);
  const uint8x16_t lower_bytes = vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
  const uint8x16_t is_even = vbicq_u8(vdupq_n_u8(1), upper_bytes);
  return vsraq_n_u8(upper_bytes, vqsubq_u8(lower_bytes, is_even), 7);
}

struct E5M2 {
  /// The upper half of an f16. A NaN comes from such a number or from the processor, so its lower
  /// half is zero, and it is not rounded.
  static uint8x16_t sum(uint8x16_t a, uint8x16_t b) {
    const Halves left = widened(a);
    const Halves right = widened(b);
    return rounded(add(left.low, right.low), add(left.high, right.high));
  }
};

struct E4M3 {
  /// One bit further down than in f16, as a number divided by 2⁸. The sum cannot overflow.
  static uint16x8_t moved(uint16x8_t upper_halves) {
    const int16x8_t shifted = vshrq_n_s16(vreinterpretq_s16_u16(upper_halves), 1);
    return vandq_u16(vreinterpretq_u16_s16(shifted), vdupq_n_u16(0xBFFF));
  }
  static uint16x8_t magnitude_moved_back(uint16x8_t v) { return vshlq_n_u16(v, 1); }

  static uint8x16_t is_nan(uint8x16_t v) {
    return vceqq_u8(vorrq_u8(v, vdupq_n_u8(0x80)), vdupq_n_u8(0xFF));
  }

  static uint8x16_t sum(uint8x16_t a, uint8x16_t b) {
    const Halves left = widened(a);
    const Halves right = widened(b);
    const uint16x8_t low = add(moved(left.low), moved(right.low));
    const uint16x8_t high = add(moved(left.high), moved(right.high));
    // The shift drops the sign.
    const uint8x16_t magnitude = rounded(magnitude_moved_back(low), magnitude_moved_back(high));
    const uint8x16_t number = vbslq_u8(vdupq_n_u8(0x80), upper(low, high), magnitude);
    const uint8x16_t nan =
        vorrq_u8(vorrq_u8(is_nan(a), is_nan(b)), vcgeq_u8(magnitude, vdupq_n_u8(0x7F)));
    return vbslq_u8(nan, vdupq_n_u8(0x7F), number);
  }
};

uint8x16_t load(const std::byte* from) { return vld1q_u8(reinterpret_cast<const uint8_t*>(from)); }

void store(std::byte* to, uint8x16_t v) { vst1q_u8(reinterpret_cast<uint8_t*>(to), v); }

template <class Format>
bool add_all(void* out, void* copy, const void* a, const void* b, std::size_t count) {
  static const bool can = (getauxval(AT_HWCAP) & adds_halves) != 0;
  if (!can) return false;
  const auto* const left = static_cast<const std::byte*>(a);
  const auto* const right = static_cast<const std::byte*>(b);
  auto* const to = static_cast<std::byte*>(out);
  auto* const also = static_cast<std::byte*>(copy);
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    const uint8x16_t v = Format::sum(load(left + at), load(right + at));
    store(to + at, v);
    if (also != nullptr) store(also + at, v);
  }
  if (at == count) return true;
  std::byte first[lanes] = {};
  std::byte second[lanes] = {};
  __builtin_memcpy(first, left + at, count - at);
  __builtin_memcpy(second, right + at, count - at);
  store(first, Format::sum(load(first), load(second)));
  __builtin_memcpy(to + at, first, count - at);
  if (also != nullptr) __builtin_memcpy(also + at, first, count - at);
  return true;
}

}  // namespace

bool add_e4m3(void* out, void* copy, const void* a, const void* b, std::size_t count) {
  return add_all<E4M3>(out, copy, a, b, count);
}

bool add_e5m2(void* out, void* copy, const void* a, const void* b, std::size_t count) {
  return add_all<E5M2>(out, copy, a, b, count);
}

}  // namespace tutti

#else

namespace tutti {

bool add_e4m3(void* /*out*/, void* /*copy*/, const void* /*a*/, const void* /*b*/,
              std::size_t /*count*/) {
  return false;
}

bool add_e5m2(void* /*out*/, void* /*copy*/, const void* /*a*/, const void* /*b*/,
              std::size_t /*count*/) {
  return false;
}

}  // namespace tutti

#endif
