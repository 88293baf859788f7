#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/call/prepared_call.hpp"
#include "cli/measure/operands.hpp"

namespace tutti::measure {

/// Random input for one call, and a check of its output.
///
/// The numbers are integers, and so small that every partial result is exact in their type. They
/// repeat with a prime period, so chunks that an algorithm could confuse differ, and a check costs
/// no more than comparing memory.
class ResultCheck {
 public:
  /// Requires: all ranks give the same seed, and every call gets another seed.
  ResultCheck(Case what, std::uint32_t self, std::uint32_t ranks, std::uint64_t seed);

  /// Fills this rank's input with its numbers and its output with a poison pattern.
  void prepare(const Operands& operands) const;

  /// The number of wrong elements in this rank's output.
  [[nodiscard]] std::uint64_t count_wrong(const Operands& operands) const;

 private:
  /// One period of one rank's elements, or of the reduction of all ranks' elements, as bytes.
  using Numbers = std::vector<std::byte>;

  [[nodiscard]] std::int64_t draw(std::uint64_t random, std::uint32_t rank,
                                  std::uint64_t index) const;
  [[nodiscard]] std::vector<std::int64_t> drawn(std::uint32_t rank) const;
  [[nodiscard]] Numbers numbers(std::uint32_t rank) const;
  [[nodiscard]] Numbers combination() const;
  [[nodiscard]] Numbers encoded(std::span<const std::int64_t> values) const;

  [[nodiscard]] CallExtent extent() const;

  /// The number of elements among `count` that differ from the numbers from `begin` on.
  [[nodiscard]] std::uint64_t differing(const std::byte* found, const Numbers& numbers,
                                        std::uint64_t begin, std::uint64_t count) const;

  Case case_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::uint64_t seed_;
  std::size_t element_;
  std::uint64_t period_;
};

}  // namespace tutti::measure
