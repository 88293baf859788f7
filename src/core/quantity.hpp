#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Sizes, times and rates as text.
namespace tutti {

/// "64MiB" and "64M" are 64·2²⁰ as in nccl-tests, "64MB" is 64·10⁶, "17" is 17 bytes. Fractions
/// such as "1.5GiB" are allowed if they give whole bytes. Throws invalid_argument.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);

/// "1us", "2.5ms" or "3s", in seconds; only "0" needs no unit. Throws invalid_argument.
[[nodiscard]] double parse_seconds(std::string_view text);

/// "100GB/s", "25Gb/s", "12.5GiB/s", "25Gbps", "100Gbit/s": bytes per second. "400G" is 400 Gb/s,
/// as networks are sold. Throws invalid_argument.
[[nodiscard]] double parse_rate(std::string_view text);

/// Seconds per byte, as a time ("0.1ns", "0") or as a rate ("10GB/s"). Throws invalid_argument.
[[nodiscard]] double parse_seconds_per_byte(std::string_view text);

/// "64MiB" if that is exact, otherwise the number of bytes: "1000001".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// "12.3us", with three significant digits.
[[nodiscard]] std::string format_seconds(double seconds);

/// "12.5GB/s", with four significant digits.
[[nodiscard]] std::string format_rate(double bytes_per_second);

/// "1 byte", "2 bytes".
[[nodiscard]] std::string in_plural(std::uint64_t count, const std::string& noun);

/// 1234567 → "1,234,567".
[[nodiscard]] std::string with_commas(std::uint64_t number);

}  // namespace tutti
