#pragma once

#include <cstddef>

#include <tutti/dtype.hpp>

namespace tutti {

/// Replaces the addends of each element, one from each of `operands` buffers, by fewer addends with
/// the same exact sum. Writes `count` elements of each of the first c planes and returns c. Returns
/// 0 if a sum of some addends is not finite. There must be as many planes as operands; the content
/// of the planes after the first c is undefined.
///
/// Every pass adds up the addends of an element and keeps the rounding errors, which are one addend
/// fewer (the error-free vector transformation of Ogita, Rump and Oishi, "Accurate sum and dot
/// product", SIAM J. Sci. Comput. 26, 2005). It stops when there is no rounding error. Two passes
/// are usually enough.
/// Requires: f32, f64, complex64 or complex128; no plane overlaps an operand.
[[nodiscard]] std::size_t distil(DType dtype, void* const* planes, const void* const* in,
                                 std::size_t operands, std::size_t count);

}  // namespace tutti
