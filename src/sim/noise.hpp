#pragma once

#include <cmath>
#include <cstdint>

namespace tutti {

/// Random delays that depend only on the seed and on the delayed item, not on the order of calls.
class Noise {
 public:
  Noise(double strength, std::uint64_t seed) : strength_(strength), seed_(seed) {}

  /// The factor by which item `id` takes longer: 1 + strength · x, where x is exponentially
  /// distributed with mean 1. Delays in real networks have such long tails.
  [[nodiscard]] double factor(std::uint64_t id) const {
    if (strength_ == 0) return 1;
    const double uniform = (static_cast<double>(mix(seed_ ^ mix(id)) >> 11) + 1) * 0x1p-53;
    return 1 - strength_ * std::log(uniform);
  }

 private:
  /// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
  /// generators", 2014).
  static std::uint64_t mix(std::uint64_t word) {
    word += 0x9e3779b97f4a7c15U;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
  }

  double strength_;
  std::uint64_t seed_;
};

}  // namespace tutti
