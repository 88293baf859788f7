#include "kernels/fold.hpp"

#include "kernels/folds.hpp"

namespace tutti {

Fold fold(DType dtype, Op op) {
  switch (dtype) {
    case DType::i8:
      return fold_i8(op);
    case DType::u8:
      return fold_u8(op);
    case DType::i16:
      return fold_i16(op);
    case DType::u16:
      return fold_u16(op);
    case DType::i32:
      return fold_i32(op);
    case DType::u32:
      return fold_u32(op);
    case DType::i64:
      return fold_i64(op);
    case DType::u64:
      return fold_u64(op);
    case DType::f16:
      return fold_f16(op);
    case DType::bf16:
      return fold_bf16(op);
    case DType::f32:
      return fold_f32(op);
    case DType::f64:
      return fold_f64(op);
    case DType::complex64:
      return fold_complex64(op);
    case DType::complex128:
      return fold_complex128(op);
    case DType::f8e4m3:
      return fold_f8e4m3(op);
    case DType::f8e5m2:
      return fold_f8e5m2(op);
  }
  return nullptr;
}

}  // namespace tutti
