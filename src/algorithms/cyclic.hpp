#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <tutti/schedule/chunk.hpp>

namespace tutti {

/// `at` modulo `modulus`, in 0 … modulus−1 also for negative `at`.
[[nodiscard]] constexpr std::uint32_t wrap(std::int64_t at, std::uint32_t modulus) {
  // Most are at most one turn away. A division would take longer than the rest of a step.
  if (at < 0) at += modulus;
  if (at >= 0 && at < modulus) return static_cast<std::uint32_t>(at);
  const std::int64_t rest = at % modulus;
  return static_cast<std::uint32_t>(rest < 0 ? rest + modulus : rest);
}

/// `count` chunks from `first` on in a ring of `modulus` chunks: one range, or two if it wraps
/// around.
class CyclicRange {
 public:
  constexpr CyclicRange(std::uint32_t first, std::uint32_t count, std::uint32_t modulus) {
    const std::uint32_t before_end = modulus - first;
    if (count <= before_end) {
      ranges_[0] = {Chunk{first}, count};
      size_ = 1;
    } else {
      ranges_[0] = {Chunk{first}, before_end};
      ranges_[1] = {Chunk{0}, count - before_end};
      size_ = 2;
    }
  }

  constexpr operator std::span<const ChunkRange>() const {  // NOLINT(google-explicit-constructor)
    return {ranges_.data(), size_};
  }

 private:
  std::array<ChunkRange, 2> ranges_{};
  std::size_t size_ = 0;
};

}  // namespace tutti
