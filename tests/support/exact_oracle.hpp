#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tutti/dtype.hpp>

namespace tutti::test {

/// A reference for exact sums: adds bit by bit in a large integer and rounds to nearest even by
/// comparing both neighbours. Numbers are passed as bits, in f16, bf16, f32 or f64. A sum of zero
/// is +0; NaN is the quiet one without a sign.
[[nodiscard]] std::uint64_t exact_sum_by_the_book(DType dtype,
                                                  const std::vector<std::uint64_t>& numbers);

/// Numbers of a dtype, as bits, that are hard to add: of all magnitudes, cancelling, tiny, halfway
/// between others, infinite. Deterministic for a seed.
[[nodiscard]] std::vector<std::uint64_t> hard_numbers(DType dtype, std::size_t count,
                                                      std::uint64_t seed);

}  // namespace tutti::test
