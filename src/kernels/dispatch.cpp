#include "kernels/dispatch.hpp"

#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tutti {
namespace {

constexpr std::int64_t any_cpu = HWY_SCALAR | HWY_EMU128;

#if defined(__x86_64__)

/// Half precision, and counting leading zeros: not every compiler's __builtin_cpu_supports() knows
/// their names.
bool has_f16c_and_lzcnt() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned f16c = 1U << 29;
  constexpr unsigned lzcnt = 1U << 5;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & f16c) == 0) return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & lzcnt) != 0;
}

/// Highway assumes all of these extensions together.
std::int64_t detected() {
  __builtin_cpu_init();
  std::int64_t targets = any_cpu;
#ifdef HWY_SSE2
  targets |= HWY_SSE2;
#endif
  if (!__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("aes") ||
      !__builtin_cpu_supports("pclmul")) {
    return targets;
  }
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") || !has_f16c_and_lzcnt()) {
    return targets;
  }
  targets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512cd")) {
    return targets;
  }
  return targets | HWY_AVX3;
}

#else

/// What the compiler may use anyway.
std::int64_t detected() { return any_cpu | HWY_BASELINE_TARGETS; }

#endif

std::atomic<std::int64_t> restriction{0};

}  // namespace

std::int64_t cpu_targets() {
  static const std::int64_t found = detected();
  const std::int64_t only = restriction.load(std::memory_order_relaxed);
  return only == 0 ? found : found & only;
}

void restrict_targets(std::int64_t targets) {
  restriction.store(targets, std::memory_order_relaxed);
}

}  // namespace tutti
