#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tutti/dtype.hpp>

namespace tutti::test {

/// The exact sum of numbers by the book: bit by bit in a large integer, rounded to nearest even by
/// looking at both neighbours. Numbers are given and returned by their bits, in one of f16, bf16,
/// f32 and f64. A sum of zero is +0; a NaN is the quiet one without a sign.
[[nodiscard]] std::uint64_t exact_sum_by_the_book(DType dtype,
                                                  const std::vector<std::uint64_t>& numbers);

/// Numbers of a dtype, as bits, that are hard to add: of all sizes, cancelling, tiny, halfway
/// between others, infinite. The same for the same seed.
[[nodiscard]] std::vector<std::uint64_t> hard_numbers(DType dtype, std::size_t count,
                                                      std::uint64_t seed);

}  // namespace tutti::test
