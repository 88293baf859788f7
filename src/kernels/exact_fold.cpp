#include "kernels/exact_fold.hpp"

namespace tutti {

Fold exact_fold(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return exact_fold_f16();
    case DType::bf16:
      return exact_fold_bf16();
    case DType::f32:
      return exact_fold_f32();
    case DType::f64:
      return exact_fold_f64();
    case DType::complex64:
      return exact_fold_complex64();
    case DType::complex128:
      return exact_fold_complex128();
    case DType::f8e4m3:
      return exact_fold_f8e4m3();
    case DType::f8e5m2:
      return exact_fold_f8e5m2();
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
    case DType::i32:
    case DType::u32:
    case DType::i64:
    case DType::u64:
      break;
  }
  return nullptr;
}

}  // namespace tutti
