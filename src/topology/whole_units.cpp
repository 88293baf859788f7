#include "topology/whole_units.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

[[noreturn]] void no_common_measure() {
  throw Error(ErrorCode::unsupported,
              "the bandwidths of this network have no common divisor whose multiples fit in 64 "
              "bits: round them to whole bytes per second");
}

Wide greatest_common_divisor(Wide a, Wide b) {
  while (b != 0) {
    a %= b;
    std::swap(a, b);
  }
  return a;
}

}  // namespace

Fraction lowest_terms(Wide above, Wide below) {
  const Wide divisor = greatest_common_divisor(above, below);
  above /= divisor;
  below /= divisor;
  constexpr Wide most = std::numeric_limits<std::uint64_t>::max();
  if (above > most || below > most) no_common_measure();
  return {.above = static_cast<std::uint64_t>(above), .below = static_cast<std::uint64_t>(below)};
}

Fraction WholeUnits::rate(Wide above, Wide below) const {
  return lowest_terms(above * factor, below * (Wide{1} << shift));
}

double WholeUnits::rounded(Wide units) const {
  return std::ldexp(static_cast<double>(units) * static_cast<double>(factor),
                    -static_cast<int>(shift));
}

WholeUnits whole_units(const Network& network) {
  WholeUnits units;
  const auto is_whole = [&](double value) {
    return std::ldexp(value, static_cast<int>(units.shift)) ==
           std::floor(std::ldexp(value, static_cast<int>(units.shift)));
  };
  constexpr std::uint32_t most_shift = 62;
  for (const Link& link : network.links) {
    while (units.shift < most_shift && !is_whole(link.bytes_per_second)) ++units.shift;
  }
  std::uint64_t divisor = 0;
  double sum = 0;
  for (const Link& link : network.links) {
    const double value = std::ldexp(link.bytes_per_second, static_cast<int>(units.shift));
    sum += value;
    if (value != std::floor(value) || sum > 0x1p62) no_common_measure();
    units.of_link.push_back(static_cast<std::uint64_t>(value));
    divisor = std::gcd(divisor, units.of_link.back());
  }
  for (std::uint64_t& each : units.of_link) each /= divisor;
  units.factor = divisor;
  return units;
}

}  // namespace tutti
