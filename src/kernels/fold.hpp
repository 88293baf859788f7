#pragma once

#include <cstddef>

#include <tutti/op.hpp>

namespace tutti {

/// Folds `count` elements of each of `operands` buffers from left to right, in one pass: out[i] =
/// ((in[0][i] ⊕ in[1][i]) ⊕ in[2][i]) ⊕ … Also writes the result to `copy` unless that is null. The
/// 8-bit formats, f16 and bf16 are folded in f32 and rounded once, to nearest even; the bits are
/// the same on every CPU. `out` and `copy` may each be one of the inputs; otherwise they must not
/// overlap them. Pointers need not be aligned.
using Fold = void (*)(void* out, void* copy, const void* const* in, std::size_t operands,
                      std::size_t count);

/// The fold for the vector instructions of this machine. avg folds like sum: see divide().
/// Requires: applies(op, dtype).
[[nodiscard]] Fold fold(DType dtype, Op op);

/// Divides elements by `divisor`, to make an average from a sum. Integers round towards zero.
void divide(DType dtype, void* data, std::size_t count, std::size_t divisor);

/// The vector instruction set that fold() uses: "NEON", "AVX2".
[[nodiscard]] const char* fold_target();

}  // namespace tutti
