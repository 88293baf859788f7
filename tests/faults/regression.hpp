#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::test {

/// A small model trained by plain gradient descent on synthetic data that depends only on the step.
/// All samples of a step are divided among the current ranks.
class Regression {
 public:
  static constexpr std::uint32_t weights = 24;
  static constexpr std::uint32_t batch = 96;

  /// The gradient over this rank's samples; the last element is the number of samples.
  void add_gradient(std::uint64_t step, std::uint32_t rank, std::uint32_t ranks,
                    std::span<double> gradient) const;
  /// Makes a gradient step with the sum of all ranks' gradients.
  void learn(std::span<const double> gradient);

  [[nodiscard]] std::vector<double>& state() { return weights_; }
  [[nodiscard]] std::uint64_t hash() const;
  /// The distance to the true model.
  [[nodiscard]] double error() const;

 private:
  std::vector<double> weights_ = std::vector<double>(weights);
};

}  // namespace tutti::test
