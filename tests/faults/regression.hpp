#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::test {

/// A small model that learns by plain gradient descent from made-up data, which follow from the
/// step: whoever takes part, all samples of a step are shared out among those present.
class Regression {
 public:
  static constexpr std::uint32_t weights = 24;
  static constexpr std::uint32_t batch = 96;

  /// The gradient over this rank's samples, and at the end how many those were.
  void add_gradient(std::uint64_t step, std::uint32_t rank, std::uint32_t ranks,
                    std::span<double> gradient) const;
  /// Moves against the sum of all ranks' gradients.
  void learn(std::span<const double> gradient);

  [[nodiscard]] std::vector<double>& state() { return weights_; }
  [[nodiscard]] std::uint64_t hash() const;
  /// How far it is from the truth.
  [[nodiscard]] double error() const;

 private:
  std::vector<double> weights_ = std::vector<double>(weights);
};

}  // namespace tutti::test
