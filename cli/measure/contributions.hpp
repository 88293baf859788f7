#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tutti/dtype.hpp>
#include <tutti/op.hpp>

namespace tutti::measure {

/// What every rank contributes to a call: numbers by formula, from a seed.
///
/// They are integers, and so small that every partial result is exact in their type. They repeat
/// with a prime period, so that chunks that an algorithm could confuse differ.
class Contributions {
 public:
  static constexpr std::uint64_t period = 65'521;

  /// Without an operation the numbers are only moved. All ranks give the same seed.
  Contributions(DType dtype, std::optional<Op> op, std::uint32_t ranks, std::uint64_t seed);

  /// Elements of one rank, or of the reduction of all ranks: those from `begin` on, at most one
  /// period of them.
  [[nodiscard]] std::vector<std::byte> of(std::uint32_t rank, std::uint64_t begin,
                                          std::uint64_t count) const;
  [[nodiscard]] std::vector<std::byte> combined(std::uint64_t begin, std::uint64_t count) const;

 private:
  [[nodiscard]] std::int64_t number(std::uint32_t rank, std::uint64_t index) const;
  [[nodiscard]] std::int64_t term(std::uint32_t rank, std::uint64_t index,
                                  std::uint64_t random) const;

  DType dtype_;
  std::optional<Op> op_;
  std::uint32_t ranks_;
  std::uint64_t seed_;
};

}  // namespace tutti::measure
