#include "cli/measure/quantile.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::measure {

double quantile(std::span<const double> sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

double median_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return quantile(numbers, 0.5);
}

}  // namespace tutti::measure
