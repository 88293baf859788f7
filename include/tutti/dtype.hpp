#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tutti/export.hpp>

namespace tutti {

/// The type of an element. f16 is IEEE 754 binary16, bf16 the upper half of an f32. complex64 is
/// two f32, the real part first; complex128 is two f64. f8e4m3 and f8e5m2 are the 8-bit formats of
/// the Open Compute Project, without saturation: a result that is too large is infinity in f8e5m2
/// and NaN in f8e4m3, which has no infinity (torch.float8_e5m2, torch.float8_e4m3fn).
///
/// The enumerator values go over the wire, so new types are added at the end.
enum class DType : std::uint8_t {
  i8,
  u8,
  i32,
  u32,
  i64,
  u64,
  f16,
  bf16,
  f32,
  f64,
  i16,
  u16,
  complex64,
  complex128,
  f8e4m3,
  f8e5m2,
};

/// The last enumerator. Gives the size of tables indexed by dtype.
inline constexpr DType last_dtype = DType::f8e5m2;

[[nodiscard]] TUTTI_API std::span<const DType> dtypes();
[[nodiscard]] TUTTI_API std::string_view name(DType dtype);
/// The inverse of name(). Throws invalid_argument and suggests the nearest name.
[[nodiscard]] TUTTI_API DType parse_dtype(std::string_view text);

/// Bytes per element.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::i8:
    case DType::u8:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return 1;
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::i32:
    case DType::u32:
    case DType::f32:
      return 4;
    case DType::i64:
    case DType::u64:
    case DType::f64:
    case DType::complex64:
      return 8;
    case DType::complex128:
      return 16;
  }
  return 0;
}

/// True for f8e4m3, f8e5m2, f16, bf16, f32 and f64.
[[nodiscard]] constexpr bool is_floating(DType dtype) {
  return (dtype >= DType::f16 && dtype <= DType::f64) || dtype >= DType::f8e4m3;
}
[[nodiscard]] constexpr bool is_complex(DType dtype) {
  return dtype == DType::complex64 || dtype == DType::complex128;
}
[[nodiscard]] constexpr bool is_integral(DType dtype) {
  return !is_floating(dtype) && !is_complex(dtype);
}

}  // namespace tutti
