#pragma once

#include <cstddef>

#include <tutti/dtype.hpp>

namespace tutti {

/// Turns the addends of each element, one from each of `operands` buffers, into fewer with the same
/// exact sum: writes `count` elements of each of the first c planes and returns c, or 0 if that
/// cannot be done because the sum of some addends is not finite. As many planes as operands are
/// given; what stands in those after the first c is undefined.
///
/// Every pass adds an element's addends up and keeps what rounding takes away, an addend fewer (the
/// error-free vector transformation of Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM
/// J. Sci. Comput. 26, 2005), until nothing is left. Mostly two passes are enough.
/// Requires: f32, f64, complex64 or complex128; no plane overlaps an operand.
[[nodiscard]] std::size_t distil(DType dtype, void* const* planes, const void* const* in,
                                 std::size_t operands, std::size_t count);

}  // namespace tutti
