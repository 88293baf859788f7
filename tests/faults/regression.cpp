#include "faults/regression.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/random.hpp"

namespace tutti::test {
namespace {

constexpr double pace = 0.3;

double truth(std::uint32_t weight) { return std::sin(1.0 + weight); }

}  // namespace

void Regression::add_gradient(std::uint64_t step, std::uint32_t rank, std::uint32_t ranks,
                              std::span<double> gradient) const {
  Random random(step);
  std::fill(gradient.begin(), gradient.end(), 0);
  for (std::uint32_t sample = 0; sample < batch; ++sample) {
    std::vector<double> x(weights);
    double surplus = 0;
    for (std::uint32_t i = 0; i < weights; ++i) {
      x[i] = static_cast<double>(random.below(2001U)) / 1000 - 1;
      surplus += x[i] * (weights_[i] - truth(i));
    }
    if (sample % ranks != rank) continue;
    for (std::uint32_t i = 0; i < weights; ++i) gradient[i] += surplus * x[i];
    gradient[weights] += 1;
  }
}

void Regression::learn(std::span<const double> gradient) {
  for (std::uint32_t i = 0; i < weights; ++i) {
    weights_[i] -= pace * gradient[i] / gradient[weights];
  }
}

std::uint64_t Regression::hash() const {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const double weight : weights_) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &weight, sizeof bits);
    hash = (hash ^ bits) * 1099511628211ULL;
  }
  return hash;
}

double Regression::error() const {
  double sum = 0;
  for (std::uint32_t i = 0; i < weights; ++i) sum += std::abs(weights_[i] - truth(i));
  return sum / weights;
}

}  // namespace tutti::test
