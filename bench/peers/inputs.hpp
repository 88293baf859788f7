// The inputs of every rank in every case, by formula, and the digest of an output.
//
// Element `index` of the input of rank `rank`, counted from the beginning of the input buffer, is
// derived from
//
//   h = (rank + 1) * 0x9e3779b97f4a7c15 + index * 0xd1b54a32d192ed03        (modulo 2^64)
//   twice: h ^= h >> 32; h *= 0xd6e8feb86659fd93;   then   h ^= h >> 32
//
// as follows. "low" means the lowest bits of h, as many as the type has.
//
//   operation        type          element
//   none             any           low, as bits
//   min max b*       integers      low
//   sum prod         unsigned      low; results wrap, the same in any order
//   sum              signed        low >> 6, arithmetic: 64 of them fit
//   sum min max      f16           h % 33 - 16
//                    f32           h % 65537 - 32768
//                    f64           h % 2^41 - 2^40
//   prod             signed, f*    on ranks 0 to 3: h % 3 + 1; on others 1 if h is even, else -1
//
// So no order of adding or multiplying rounds or overflows for up to 64 ranks, and every library
// must have the same bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "peers/cases.hpp"

namespace peers {

[[nodiscard]] inline std::uint64_t hash(int rank, std::size_t index) {
  std::uint64_t h = (static_cast<std::uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15U +
                    static_cast<std::uint64_t>(index) * 0xd1b54a32d192ed03U;
  for (int i = 0; i < 2; ++i) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93U;
  }
  return h ^ (h >> 32);
}

/// The bits of the binary16 number `value`. Requires: between -2048 and 2048.
[[nodiscard]] inline std::uint16_t half_bits(int value) {
  if (value == 0) return 0;
  const auto magnitude = static_cast<unsigned>(value < 0 ? -value : value);
  const auto exponent = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const unsigned fraction = exponent <= 10 ? magnitude << (10 - exponent) : magnitude >> 1;
  return static_cast<std::uint16_t>((value < 0 ? 0x8000U : 0U) | (exponent + 15) << 10 |
                                    (fraction & 0x3ffU));
}

/// A factor whose products stay small.
[[nodiscard]] inline int factor(int rank, std::uint64_t h) {
  if (rank < 4) return static_cast<int>(h % 3) + 1;
  return h % 2 == 0 ? 1 : -1;
}

template <class Number>
[[nodiscard]] Number element(Op op, int rank, std::uint64_t h) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (op == Op::prod) return static_cast<Number>(factor(rank, h));
    constexpr std::int64_t half_range = sizeof(Number) == 4 ? 1 << 15 : std::int64_t{1} << 40;
    constexpr std::uint64_t range = 2 * half_range + (sizeof(Number) == 4 ? 1 : 0);
    return static_cast<Number>(static_cast<std::int64_t>(h % range) - half_range);
  } else if constexpr (std::is_signed_v<Number>) {
    if (op == Op::prod) return static_cast<Number>(factor(rank, h));
    const auto low = static_cast<Number>(h);
    return op == Op::sum ? static_cast<Number>(low >> 6) : low;
  } else {
    return static_cast<Number>(h);
  }
}

template <class Number>
void fill_with(const Case& c, int rank, std::size_t elements, std::byte* input) {
  for (std::size_t i = 0; i < elements; ++i) {
    const auto value = element<Number>(c.op, rank, hash(rank, i));
    std::memcpy(input + i * sizeof value, &value, sizeof value);
  }
}

inline void fill_with_halves(const Case& c, int rank, std::size_t elements, std::byte* input) {
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint64_t h = hash(rank, i);
    const int number = c.op == Op::prod ? factor(rank, h) : static_cast<int>(h % 33) - 16;
    const std::uint16_t value = half_bits(number);
    std::memcpy(input + i * sizeof value, &value, sizeof value);
  }
}

inline void fill_with_bits(std::size_t bytes_each, int rank, std::size_t elements,
                           std::byte* input) {
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint64_t h = hash(rank, i);
    for (std::size_t b = 0; b < bytes_each; ++b) {
      input[i * bytes_each + b] = static_cast<std::byte>(h >> (8 * b));
    }
  }
}

/// Writes the input of `rank`: input_elements(c, ranks, rank) elements.
inline void fill(const Case& c, int ranks, int rank, std::byte* input) {
  const std::size_t elements = input_elements(c, ranks, rank);
  if (c.op == Op::none) return fill_with_bits(size_of(c.dtype), rank, elements, input);
  switch (c.dtype) {
    case DType::i8:
      return fill_with<std::int8_t>(c, rank, elements, input);
    case DType::u8:
      return fill_with<std::uint8_t>(c, rank, elements, input);
    case DType::i32:
      return fill_with<std::int32_t>(c, rank, elements, input);
    case DType::u32:
      return fill_with<std::uint32_t>(c, rank, elements, input);
    case DType::i64:
      return fill_with<std::int64_t>(c, rank, elements, input);
    case DType::u64:
      return fill_with<std::uint64_t>(c, rank, elements, input);
    case DType::f16:
      return fill_with_halves(c, rank, elements, input);
    case DType::f32:
      return fill_with<float>(c, rank, elements, input);
    case DType::f64:
      return fill_with<double>(c, rank, elements, input);
  }
}

/// FNV-1a, 64 bits, over the bytes in memory (little endian).
[[nodiscard]] inline std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const std::byte b : bytes) {
    h ^= static_cast<std::uint64_t>(b);
    h *= 0x100000001b3U;
  }
  return h;
}

/// "allreduce f32 sum 1000 - 3 0123456789abcdef": a case, a rank and the digest of its output.
[[nodiscard]] inline std::string line(const Case& c, int rank, std::uint64_t digested) {
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(digested));
  return line(c) + " " + std::to_string(rank) + " " + hex;
}

}  // namespace peers
