#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tutti/dtype.hpp>

namespace tutti {

/// The bits of an IEEE 754 binary16, for programs without a half-precision type.
struct Float16 {
  std::uint16_t bits = 0;
};
/// The bits of a bfloat16: the upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// The bits of an 8-bit floating-point number: see DType.
struct Float8E4M3 {
  std::uint8_t bits = 0;
};
struct Float8E5M2 {
  std::uint8_t bits = 0;
};

/// An integer type, signed or unsigned, of 8 to 64 bits. bool, char and the other character types
/// are excluded, because the signedness of char depends on the machine. signed char and unsigned
/// char are included.
template <class T>
concept Integer = std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> &&
                  !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
                  !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
                  !std::same_as<T, char32_t>;

/// std::complex<float> and std::complex<double>, and types of the same form and layout.
template <class T>
concept ComplexNumber = requires(const T& number) {
  requires std::same_as<typename T::value_type, float> ||
      std::same_as<typename T::value_type, double>;
  { number.real() } -> std::convertible_to<typename T::value_type>;
  { number.imag() } -> std::convertible_to<typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
};

namespace detail {

/// Selects by size, because long and long long are different types of the same size.
template <Integer T>
constexpr DType dtype_of_integer() {
  constexpr bool has_sign = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return has_sign ? DType::i8 : DType::u8;
    case 2:
      return has_sign ? DType::i16 : DType::u16;
    case 4:
      return has_sign ? DType::i32 : DType::u32;
    default:
      return has_sign ? DType::i64 : DType::u64;
  }
}

}  // namespace detail

/// The DType of T. Specialise it for your own half-precision type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<Float16> : std::integral_constant<DType, DType::f16> {};
template <>
struct DTypeOf<BFloat16> : std::integral_constant<DType, DType::bf16> {};
template <>
struct DTypeOf<Float8E4M3> : std::integral_constant<DType, DType::f8e4m3> {};
template <>
struct DTypeOf<Float8E5M2> : std::integral_constant<DType, DType::f8e5m2> {};
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::f32> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::f64> {};
template <Integer T>
struct DTypeOf<T> : std::integral_constant<DType, detail::dtype_of_integer<T>()> {};
template <ComplexNumber T>
struct DTypeOf<T> : std::integral_constant<DType, sizeof(typename T::value_type) == sizeof(float)
                                                      ? DType::complex64
                                                      : DType::complex128> {};

/// A type that tutti can reduce.
template <class T>
concept Number = requires {
  { DTypeOf<T>::value } -> std::convertible_to<DType>;
};

/// A type that tutti can move: anything trivially copyable.
template <class T>
concept Movable = std::is_trivially_copyable_v<T>;

}  // namespace tutti
