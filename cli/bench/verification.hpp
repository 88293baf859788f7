#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/bench/case.hpp"

namespace tutti::cli {

/// Data for one call, made up anew, and what must come of it.
///
/// Numbers are random and whole, and so small that all they add up to, on the way too, is exact in
/// their type. They repeat after a prime number of elements: no two chunks that an algorithm might
/// mistake for each other are alike, and to check many costs no more than to compare memory.
class BenchVerification {
 public:
  /// Requires: all ranks give the same seed, and another for every call.
  BenchVerification(BenchCase one, std::uint32_t self, std::uint32_t ranks, std::uint64_t seed);

  /// Fills what the call of this rank reads with its numbers and what it writes with poison.
  void prepare(const Call& call) const;

  /// How many elements of this rank's output are wrong.
  [[nodiscard]] std::uint64_t count_wrong(const Call& call) const;

 private:
  /// Elements of one rank's numbers or of all ranks' combined, in bytes, from place 0 on.
  using Numbers = std::vector<std::byte>;

  [[nodiscard]] std::int64_t draw(std::uint64_t random, std::uint32_t rank,
                                  std::uint64_t place) const;
  [[nodiscard]] std::vector<std::int64_t> drawn(std::uint32_t rank) const;
  [[nodiscard]] Numbers numbers(std::uint32_t rank) const;
  [[nodiscard]] Numbers combination() const;
  [[nodiscard]] Numbers encoded(std::span<const std::int64_t> values) const;

  /// Compares `count` elements with the numbers from place `begin` on.
  [[nodiscard]] std::uint64_t differing(const std::byte* found, const Numbers& numbers,
                                        std::uint64_t begin, std::uint64_t count) const;

  BenchCase case_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::uint64_t seed_;
  std::size_t element_;
  std::uint64_t period_;
};

}  // namespace tutti::cli
