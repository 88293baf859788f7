#pragma once

#include <cmath>
#include <cstdint>

#include "core/hash.hpp"

namespace tutti {

/// Random delays that depend only on the seed and on the delayed item, not on the order of calls.
class Noise {
 public:
  Noise(double strength, std::uint64_t seed) : strength_(strength), seed_(seed) {}

  /// The factor by which item `id` takes longer: 1 + strength · x, where x is exponentially
  /// distributed with mean 1. Delays in real networks have such long tails.
  [[nodiscard]] double factor(std::uint64_t id) const {
    if (strength_ == 0) return 1;
    const double uniform =
        (static_cast<double>(mixed(0, seed_ ^ mixed(0, id)) >> 11) + 1) * 0x1p-53;
    return 1 - strength_ * std::log(uniform);
  }

 private:
  double strength_;
  std::uint64_t seed_;
};

}  // namespace tutti
