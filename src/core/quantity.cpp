#include "core/quantity.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include <tutti/error.hpp>

#include "core/decimal.hpp"

namespace tutti {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double ki = 1024;
constexpr std::array byte_units{
    Unit{"", 1},
    Unit{"B", 1},
    Unit{"K", ki},
    Unit{"KiB", ki},
    Unit{"kB", 1e3},
    Unit{"KB", 1e3},
    Unit{"M", ki* ki},
    Unit{"MiB", ki* ki},
    Unit{"MB", 1e6},
    Unit{"G", ki* ki* ki},
    Unit{"GiB", ki* ki* ki},
    Unit{"GB", 1e9},
    Unit{"T", ki* ki* ki* ki},
    Unit{"TiB", ki* ki* ki* ki},
    Unit{"TB", 1e12},
};
constexpr std::array time_units{
    Unit{"s", 1},          Unit{"ms", 1e-3}, Unit{"us", 1e-6},  Unit{"µs", 1e-6},
    Unit{"\u03bcs", 1e-6}, Unit{"ns", 1e-9}, Unit{"ps", 1e-12},
};
// As networks are sold, "400G" is 400 Gb/s: a rate whose unit is only a prefix is in bits.
constexpr std::array rate_units{
    Unit{"B/s", 1},          Unit{"kB/s", 1e3},       Unit{"KB/s", 1e3},
    Unit{"MB/s", 1e6},       Unit{"GB/s", 1e9},       Unit{"TB/s", 1e12},
    Unit{"KiB/s", ki},       Unit{"MiB/s", ki* ki},   Unit{"GiB/s", ki* ki* ki},
    Unit{"kBps", 1e3},       Unit{"MBps", 1e6},       Unit{"GBps", 1e9},
    Unit{"TBps", 1e12},      Unit{"b/s", 1.0 / 8},    Unit{"Kb/s", 1e3 / 8},
    Unit{"kb/s", 1e3 / 8},   Unit{"Mb/s", 1e6 / 8},   Unit{"Gb/s", 1e9 / 8},
    Unit{"Tb/s", 1e12 / 8},  Unit{"bps", 1.0 / 8},    Unit{"kbps", 1e3 / 8},
    Unit{"Kbps", 1e3 / 8},   Unit{"Mbps", 1e6 / 8},   Unit{"Gbps", 1e9 / 8},
    Unit{"Tbps", 1e12 / 8},  Unit{"bit/s", 1.0 / 8},  Unit{"kbit/s", 1e3 / 8},
    Unit{"Mbit/s", 1e6 / 8}, Unit{"Gbit/s", 1e9 / 8}, Unit{"Tbit/s", 1e12 / 8},
    Unit{"M", 1e6 / 8},      Unit{"G", 1e9 / 8},      Unit{"T", 1e12 / 8},
    Unit{"Gb", 1e9 / 8},     Unit{"Gbit", 1e9 / 8},
};

/// A number without a unit, which is valid only if it is 0.
[[noreturn]] void ask_unit(std::string_view text, const std::string& examples) {
  const std::string number(text);
  throw Error(ErrorCode::invalid_argument, number + " what? Write the unit: " + examples);
}

[[noreturn]] void reject(std::string_view text, const std::string& wanted) {
  throw Error(ErrorCode::invalid_argument, "'" + std::string(text) + "' is not " + wanted);
}

/// Parses a number followed by the name of a unit. `examples` of units follow the number in the
/// message about a missing unit.
double parse(std::string_view text, std::span<const Unit> units, const std::string& wanted,
             std::initializer_list<std::string_view> examples = {}) {
  double number = 0;
  const auto [end, error] = read_decimal(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || std::signbit(number)) reject(text, wanted);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (rest.empty() && number == 0) return 0;
  if (rest.empty() && examples.size() > 0) {
    std::string list;
    for (const std::string_view each : examples) {
      list += (list.empty() ? "" : ", ") + std::string(text) + std::string(each);
    }
    ask_unit(text, list);
  }
  for (const Unit& unit : units) {
    if (unit.name != rest) continue;
    const double value = number * unit.factor;
    if (!std::isfinite(value)) break;
    return value;
  }
  reject(text, wanted);
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  const std::string wanted =
      "a size; write a number of bytes, or for example 64KiB, 1MiB, 25MB or 1G";
  const double bytes = parse(text, byte_units, wanted);
  constexpr double most = 0x1p62;
  if (bytes > most || bytes != std::floor(bytes)) reject(text, wanted);
  return static_cast<std::uint64_t>(bytes);
}

double parse_seconds(std::string_view text) {
  return parse(text, time_units, "a time; write for example 1us, 2.5ms, 300ns or 0.1s",
               {"us", "ms", "s"});
}

double parse_rate(std::string_view text) {
  const std::string wanted = "a bandwidth; write for example 100GB/s, 12.5GiB/s, 25Gb/s or 400G";
  const double rate = parse(text, rate_units, wanted, {"GB/s", "Gb/s"});
  if (rate == 0) reject(text, wanted);
  return rate;
}

double parse_seconds_per_byte(std::string_view text) {
  const std::string wanted = "a time per byte; write for example 0, 0.1ns or a rate like 10GB/s";
  if (text.find("/s") != std::string_view::npos) {
    const double inverse = 1 / parse_rate(text);
    if (!std::isfinite(inverse)) reject(text, wanted);
    return inverse;
  }
  std::string_view time = text;
  if (time.size() > 2 && time.substr(time.size() - 2) == "/B") time.remove_suffix(2);
  return parse(time, time_units, wanted, {"ns", "GB/s"});
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> names{"", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < names.size()) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + std::string(names.at(unit));
}

std::string format_seconds(double seconds) {
  if (seconds == 0) return "0";
  constexpr std::array units{Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"ns", 1e-9}};
  const Unit* best = &units.back();
  for (const Unit& unit : units) {
    // Rounding to three digits must not give 1000us.
    if (seconds >= unit.factor * 0.9995) {
      best = &unit;
      break;
    }
  }
  const double value = seconds / best->factor;
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::array<char, 32> text{};
  constexpr double longest = 1e9;  // Longer numbers would be a line of digits.
  const int length = value < longest
                         ? std::snprintf(text.data(), text.size(), "%.*f", digits, value)
                         : std::snprintf(text.data(), text.size(), "%.3g", value);
  return std::string(text.data(), static_cast<std::size_t>(length)) + std::string(best->name);
}

std::string format_rate(double bytes_per_second) {
  constexpr std::array units{Unit{"TB/s", 1e12}, Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6},
                             Unit{"kB/s", 1e3}, Unit{"B/s", 1}};
  const Unit* best = &units.back();
  for (const Unit& unit : units) {
    // Rounding to four digits must not give 1000MB/s.
    if (bytes_per_second >= unit.factor * 0.99995) {
      best = &unit;
      break;
    }
  }
  std::array<char, 32> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%.4g", bytes_per_second / best->factor);
  return std::string(text.data(), static_cast<std::size_t>(length)) + std::string(best->name);
}

std::string in_plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

}  // namespace tutti
