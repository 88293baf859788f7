#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tutti/dtype.hpp>

namespace tutti {

/// The bits of an IEEE 754 binary16, for those who have no type of their own for it.
struct Float16 {
  std::uint16_t bits = 0;
};
/// The bits of a bfloat16: the upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// What tutti calls the type T; specialise it for a half-precision type of your own.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<std::int8_t> : std::integral_constant<DType, DType::i8> {};
template <>
struct DTypeOf<std::uint8_t> : std::integral_constant<DType, DType::u8> {};
template <>
struct DTypeOf<Float16> : std::integral_constant<DType, DType::f16> {};
template <>
struct DTypeOf<BFloat16> : std::integral_constant<DType, DType::bf16> {};
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::f32> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::f64> {};
/// long and long long are two types of the same size, so what counts is the size.
template <std::integral T>
requires(sizeof(T) >= 4) struct DTypeOf<T>
    : std::integral_constant<DType, sizeof(T) == 4
                                        ? (std::is_signed_v<T> ? DType::i32 : DType::u32)
                                        : (std::is_signed_v<T> ? DType::i64 : DType::u64)> {
};

/// What tutti can add up.
template <class T>
concept Number = requires {
  { DTypeOf<T>::value } -> std::convertible_to<DType>;
};

/// What tutti can move: anything that may be copied byte by byte.
template <class T>
concept Movable = std::is_trivially_copyable_v<T>;

}  // namespace tutti
