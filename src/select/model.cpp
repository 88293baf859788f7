#include "select/model.hpp"

#include <algorithm>

namespace tutti {
namespace {

using Terms = std::array<double, Effort::kinds>;

/// Up to 8 KiB messages cost more than bytes; up to 1 MiB data stays in the caches of a core.
constexpr std::array<std::uint64_t, 3> borders{8192, std::uint64_t{1} << 20, ~std::uint64_t{0}};

/// Fewer observations do not determine the rates.
constexpr std::size_t least_observations = 2 * Effort::kinds;

/// Non-negative least squares by coordinate descent. Rows are scaled so that the target of every
/// observation is 1, which makes errors relative.
Terms least_squares(const std::vector<Terms>& rows) {
  constexpr int most_sweeps = 20'000;
  std::array<Terms, Effort::kinds> products{};
  Terms sums{};
  for (const Terms& row : rows) {
    for (std::size_t i = 0; i < Effort::kinds; ++i) {
      sums[i] += row[i];
      for (std::size_t j = 0; j < Effort::kinds; ++j) products[i][j] += row[i] * row[j];
    }
  }
  Terms rates{};
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double moved = 0;
    for (std::size_t i = 0; i < Effort::kinds; ++i) {
      if (products[i][i] == 0) continue;
      double slope = sums[i];
      for (std::size_t j = 0; j < Effort::kinds; ++j) slope -= products[i][j] * rates[j];
      const double next = std::max(0.0, rates[i] + slope / products[i][i]);
      moved = std::max(moved, (next - rates[i]) * (next - rates[i]) * products[i][i]);
      rates[i] = next;
    }
    if (moved < 1e-14 * static_cast<double>(rows.size())) break;
  }
  return rates;
}

/// Scales the columns: byte counts are larger than message counts by orders of magnitude.
Terms fit_rates(std::span<const Observation> observations) {
  Terms largest{};
  for (const Observation& each : observations) {
    for (std::size_t i = 0; i < Effort::kinds; ++i) {
      largest[i] = std::max(largest[i], each.effort.counts[i] / each.seconds);
    }
  }
  std::vector<Terms> rows;
  for (const Observation& each : observations) {
    Terms row{};
    for (std::size_t i = 0; i < Effort::kinds; ++i) {
      if (largest[i] > 0) row[i] = each.effort.counts[i] / each.seconds / largest[i];
    }
    rows.push_back(row);
  }
  Terms rates = least_squares(rows);
  for (std::size_t i = 0; i < Effort::kinds; ++i) {
    if (largest[i] > 0) rates[i] /= largest[i];
  }
  return rates;
}

}  // namespace

double Model::seconds(const Effort& effort, std::uint64_t bytes) const {
  const auto found = std::find_if(rates.begin(), rates.end(),
                                  [&](const Rates& each) { return bytes <= each.up_to; });
  const Rates& used = found == rates.end() ? rates.back() : *found;
  double sum = 0;
  for (std::size_t i = 0; i < Effort::kinds; ++i) sum += used.seconds[i] * effort.counts[i];
  return sum;
}

Model fit(std::span<const Observation> observations) {
  Model model;
  std::vector<Observation> some;
  std::uint64_t above = 0;
  for (const std::uint64_t border : borders) {
    for (const Observation& each : observations) {
      if (each.bytes <= border && (above == 0 || each.bytes > above)) some.push_back(each);
    }
    above = border;
    if (some.size() < least_observations && border != borders.back()) continue;
    if (some.size() < least_observations && !model.rates.empty()) {
      model.rates.back().up_to = border;
      continue;
    }
    model.rates.push_back({.up_to = border, .seconds = fit_rates(some)});
    some.clear();
  }
  return model;
}

}  // namespace tutti
