#include "core/quantity.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

namespace tutti {
namespace {

TEST(Quantity, ParsesBytes) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("17"), 17U);
  EXPECT_EQ(parse_bytes("17B"), 17U);
  EXPECT_EQ(parse_bytes("64K"), 65536U);
  EXPECT_EQ(parse_bytes("64KiB"), 65536U);
  EXPECT_EQ(parse_bytes("25MB"), 25000000U);
  EXPECT_EQ(parse_bytes("1.5 GiB"), 3U << 29);
  EXPECT_EQ(parse_bytes("1e6"), 1000000U);
  for (const char* bad : {"", "MB", "-1", "1.5", "1XB", "1e30", "nan", "inf", "0x10", "1 2"}) {
    EXPECT_THROW((void)parse_bytes(bad), Error) << bad;
  }
}

TEST(Quantity, ParsesTimesInSeconds) {
  EXPECT_DOUBLE_EQ(parse_seconds("1us"), 1e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("2.5ms"), 2.5e-3);
  EXPECT_DOUBLE_EQ(parse_seconds("300ns"), 3e-7);
  EXPECT_DOUBLE_EQ(parse_seconds("0"), 0);
  EXPECT_THROW((void)parse_seconds("1kg"), Error);
  EXPECT_THROW((void)parse_seconds("-1us"), Error);
}

TEST(Quantity, ParsesRatesInBytesPerSecond) {
  EXPECT_DOUBLE_EQ(parse_rate("100GB/s"), 1e11);
  EXPECT_DOUBLE_EQ(parse_rate("25Gb/s"), 25e9 / 8);
  EXPECT_THROW((void)parse_rate("0GB/s"), Error);
  EXPECT_THROW((void)parse_rate("100"), Error);
  EXPECT_DOUBLE_EQ(parse_seconds_per_byte("20GB/s"), 1 / 20e9);
  EXPECT_DOUBLE_EQ(parse_seconds_per_byte("0.1ns"), 1e-10);
  EXPECT_DOUBLE_EQ(parse_seconds_per_byte("0.1ns/B"), 1e-10);
}

TEST(Quantity, FormatsSignificantDigits) {
  EXPECT_EQ(format_bytes(0), "0");
  EXPECT_EQ(format_bytes(1 << 20), "1MiB");
  EXPECT_EQ(format_bytes(1000001), "1000001");
  EXPECT_EQ(format_seconds(0), "0");
  EXPECT_EQ(format_seconds(1.2345e-5), "12.3us");
  EXPECT_EQ(format_seconds(9.9999e-4), "1.00ms");
  EXPECT_EQ(format_seconds(3), "3.00s");
  EXPECT_EQ(format_seconds(4.2e-10), "0.42ns");
}

TEST(Quantity, RejectsOverflow) {
  EXPECT_THROW((void)parse_rate("1e300TB/s"), Error);
  EXPECT_THROW((void)parse_bytes("1e308T"), Error);
  // The inverse of such a slow rate overflows.
  EXPECT_THROW((void)parse_seconds_per_byte("1e-320B/s"), Error);
}

TEST(Quantity, FormatsExtremeTimesBriefly) {
  EXPECT_EQ(format_seconds(123456789), "123456789s");
  EXPECT_EQ(format_seconds(1.25e300), "1.25e+300s");
}

TEST(Quantity, FormatsRatesInTheBestUnit) {
  EXPECT_EQ(format_rate(12.5e9), "12.5GB/s");
  EXPECT_EQ(format_rate(999.99e6), "1GB/s");
  EXPECT_EQ(format_rate(1), "1B/s");
  EXPECT_EQ(format_rate(1.8e12), "1.8TB/s");
  EXPECT_EQ(format_rate(0.25), "0.25B/s");
}

TEST(Quantities, AreWrittenAsNetworksAreSold) {
  EXPECT_DOUBLE_EQ(parse_rate("25Gbps"), 25e9 / 8);
  EXPECT_DOUBLE_EQ(parse_rate("100Gbit/s"), 100e9 / 8);
  EXPECT_DOUBLE_EQ(parse_rate("400G"), 400e9 / 8);
  EXPECT_DOUBLE_EQ(parse_rate("100 GBps"), 100e9);
}

TEST(Quantities, NeedAUnit) {
  const auto message = [](auto parse, const char* text) -> std::string {
    try {
      (void)parse(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(parse_seconds, "5"), "5 what? Write the unit: 5us, 5ms, 5s");
  EXPECT_EQ(message(parse_rate, "100"), "100 what? Write the unit: 100GB/s, 100Gb/s");
  EXPECT_EQ(message(parse_seconds_per_byte, "5"), "5 what? Write the unit: 5ns, 5GB/s");
  EXPECT_DOUBLE_EQ(parse_seconds_per_byte("0"), 0);
  EXPECT_DOUBLE_EQ(parse_seconds("0.0"), 0);
}

}  // namespace
}  // namespace tutti
