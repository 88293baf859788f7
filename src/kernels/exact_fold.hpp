#pragma once

#include "kernels/fold.hpp"

namespace tutti {

/// The fold that computes the exact sum of one or more operands, rounded once to nearest even. Its
/// bits do not depend on the order of operands. A sum of zero is +0, and there is one NaN.
///
/// Most sums are exact in a type twice as wide, or in two numbers, and the kernel detects that. The
/// other sums are recomputed in a long accumulator (see exact_sum). This is the method of Collange,
/// Defour, Graillat and Iakymchuk, "Numerical reproducibility for the parallel reduction on multi-
/// and many-core architectures", Parallel Computing 49 (2015).
/// Requires: a dtype that is not integral.
[[nodiscard]] Fold exact_fold(DType dtype);

// One for each dtype, in separate files as in folds.hpp.
[[nodiscard]] Fold exact_fold_f16();
[[nodiscard]] Fold exact_fold_bf16();
[[nodiscard]] Fold exact_fold_f8e4m3();
[[nodiscard]] Fold exact_fold_f8e5m2();
[[nodiscard]] Fold exact_fold_f32();
[[nodiscard]] Fold exact_fold_f64();
[[nodiscard]] Fold exact_fold_complex64();
[[nodiscard]] Fold exact_fold_complex128();

}  // namespace tutti
