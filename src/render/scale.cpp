#include "render/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "render/svg.hpp"

namespace tutti::render {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double ki = 1024;
constexpr std::array byte_units{Unit{"B", 1}, Unit{"KiB", ki}, Unit{"MiB", ki* ki},
                                Unit{"GiB", ki* ki* ki}, Unit{"TiB", ki* ki* ki* ki}};
constexpr std::array time_units{Unit{"ns", 1e-9}, Unit{"µs", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}};
constexpr std::array rate_units{Unit{"B/s", 1}, Unit{"kB/s", 1e3}, Unit{"MB/s", 1e6},
                                Unit{"GB/s", 1e9}, Unit{"TB/s", 1e12}};

/// Three significant digits, but all digits before the point.
std::string digits(double value) {
  const double size = std::abs(value);
  const double grain = size < 9.995 ? 0.01 : size < 99.95 ? 0.1 : 1;
  if (size > 0 && size < 0.0995) {
    std::array<char, 32> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.2g", value);
    return {text.data(), static_cast<std::size_t>(length)};
  }
  return number(std::round(value / grain) * grain);
}

template <std::size_t size>
std::string with_unit(const std::array<Unit, size>& units, double amount) {
  const Unit* best = units.data();
  for (const Unit& unit : units) {
    // An amount that rounds up to the next unit is written in it: 1 ms, not 1000 µs.
    if (amount >= unit.factor * 0.9995) best = &unit;
  }
  return digits(amount / best->factor) + " " + std::string(best->name);
}

constexpr double slack = 1e-9;  // Logarithms of ticks have rounding errors.

/// The largest 1, 2 or 5 times a power of ten that is at most `amount`.
double nice_below(double amount) {
  const double decade = std::pow(10, std::floor(std::log10(amount) + slack));
  for (const double step : {5.0, 2.0}) {
    if (amount >= step * decade * (1 - slack)) return step * decade;
  }
  return decade;
}

double nice_above(double amount) {
  const double below = nice_below(amount);
  if (below >= amount * (1 - slack)) return below;
  const double decade = std::pow(10, std::floor(std::log10(below) + slack));
  return below < 1.5 * decade ? 2 * decade : below < 3 * decade ? 5 * decade : 10 * decade;
}

std::vector<double> powers(double base, double low, double high, int stride) {
  std::vector<double> found;
  const int first = static_cast<int>(std::ceil(std::log(low) / std::log(base) - slack));
  const int last = static_cast<int>(std::floor(std::log(high) / std::log(base) + slack));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % stride == 0) found.push_back(std::pow(base, exponent));
  }
  return found;
}

}  // namespace

std::string in_words(Measure measure, double amount) {
  switch (measure) {
    case Measure::bytes:
      return with_unit(byte_units, amount);
    case Measure::seconds:
      return with_unit(time_units, amount);
    case Measure::bytes_per_second:
      return with_unit(rate_units, amount);
    case Measure::ratio:
      break;
  }
  return digits(amount);
}

std::vector<double> linear_ticks(double high, std::size_t most) {
  if (high <= 0) return {0};
  const double distance = nice_above(high / static_cast<double>(most - 1));
  std::vector<double> found;
  for (std::size_t i = 0; static_cast<double>(i) * distance <= high * (1 + slack); ++i) {
    found.push_back(static_cast<double>(i) * distance);
  }
  return found;
}

LogScale::LogScale(Measure measure, double low, double high) : measure_(measure) {
  if (measure == Measure::bytes) {
    low_ = low;
    high_ = high;
  } else {
    low_ = nice_below(low);
    high_ = nice_above(high);
  }
  if (high_ < low_ * 1.5) {
    low_ /= 2;
    high_ *= 2;
  }
}

double LogScale::place(double amount) const {
  return std::log(amount / low_) / std::log(high_ / low_);
}

std::vector<double> LogScale::ticks(std::size_t most) const {
  std::vector<double> found;
  if (measure_ != Measure::bytes) {
    for (double tick = nice_below(low_); tick <= high_ * (1 + slack);
         tick = nice_above(tick * 1.1)) {
      if (tick >= low_ * (1 - slack)) found.push_back(tick);
    }
    if (found.size() <= most) return found;
  }
  const double base = measure_ == Measure::bytes ? 2 : 10;
  // Units differ by ten powers of two, or by three powers of ten.
  for (const int stride : {1, 2, 3, 5, 6, 10, 20, 30}) {
    found = powers(base, low_, high_, stride);
    if (found.size() <= most) break;
  }
  return found;
}

}  // namespace tutti::render
