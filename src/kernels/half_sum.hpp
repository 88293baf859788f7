#pragma once

#include <cstddef>

namespace tutti {

/// Adds two vectors of f16 in f16, and also writes the sums to `copy` unless that is null. For two
/// operands that gives the same bits as adding in f32 and rounding once: f32 has more than twice
/// the digits. False if this CPU, or the build, has no such instructions; then nothing is written.
bool add_halves(void* out, void* copy, const void* a, const void* b, std::size_t count);

}  // namespace tutti
