#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tutti/export.hpp>

namespace tutti {

/// What an element is. f16 is IEEE 754 binary16, bf16 the upper half of an f32.
enum class DType : std::uint8_t { i8, u8, i32, u32, i64, u64, f16, bf16, f32, f64 };

[[nodiscard]] TUTTI_API std::span<const DType> dtypes();
[[nodiscard]] TUTTI_API std::string_view name(DType dtype);
/// The inverse of name(). Throws invalid_argument that suggests the nearest name.
[[nodiscard]] TUTTI_API DType parse_dtype(std::string_view text);

/// Bytes per element.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::i8:
    case DType::u8:
      return 1;
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
      return 8;
  }
  return 0;
}

[[nodiscard]] constexpr bool is_floating(DType dtype) { return dtype >= DType::f16; }

}  // namespace tutti
