#pragma once

#include "kernels/fold.hpp"

namespace tutti {

/// fold() for each dtype. Each file has a few types only, because the compiler generates every fold
/// for each vector instruction set.
[[nodiscard]] Fold fold_i8(Op op);
[[nodiscard]] Fold fold_u8(Op op);
[[nodiscard]] Fold fold_i16(Op op);
[[nodiscard]] Fold fold_u16(Op op);
[[nodiscard]] Fold fold_i32(Op op);
[[nodiscard]] Fold fold_u32(Op op);
[[nodiscard]] Fold fold_i64(Op op);
[[nodiscard]] Fold fold_u64(Op op);
[[nodiscard]] Fold fold_f16(Op op);
[[nodiscard]] Fold fold_bf16(Op op);
[[nodiscard]] Fold fold_f8e4m3(Op op);
[[nodiscard]] Fold fold_f8e5m2(Op op);
[[nodiscard]] Fold fold_f32(Op op);
[[nodiscard]] Fold fold_f64(Op op);
[[nodiscard]] Fold fold_complex64(Op op);
[[nodiscard]] Fold fold_complex128(Op op);

}  // namespace tutti
