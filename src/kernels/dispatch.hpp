#pragma once

// Chooses the version of a kernel for this CPU. Highway compiles a version for each instruction
// set. Its own choice is in libhwy, which also measures a clock when it is loaded: one or two
// milliseconds in every process.
//
// To be included after <hwy/highway.h>, in the part of a file that is compiled once.
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

namespace tutti {

/// The instruction sets that this CPU has, as bits such as HWY_AVX2. Some may have no versions.
[[nodiscard]] std::int64_t cpu_targets();

/// For tests: other instruction sets are not used from now on. 0: all are.
void restrict_targets(std::int64_t targets);

/// The version for the best instruction set of the CPU among those that were `compiled`. `versions`
/// has them in Highway's order, the best first, and at the end the one for any CPU.
template <typename Function, std::size_t count>
[[nodiscard]] Function best_version(Function const (&versions)[count], std::int64_t compiled) {
  const std::int64_t usable = HWY_CHOSEN_TARGET_SHIFT(cpu_targets() & compiled) >> 1;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if ((usable >> i & 1) != 0) return versions[i];
  }
  return versions[count - 1];
}

}  // namespace tutti

/// Defines the list of versions of a function.
#define TUTTI_VERSIONS(FUNCTION)                                                  \
  static decltype(&HWY_STATIC_DISPATCH(FUNCTION)) const FUNCTION##_versions[] = { \
      HWY_CHOOSE_TARGET_LIST(FUNCTION), HWY_CHOOSE_FALLBACK(FUNCTION)}

/// The version for this CPU.
#define TUTTI_BEST_VERSION(FUNCTION) (best_version(FUNCTION##_versions, HWY_TARGETS))
