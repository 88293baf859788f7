#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// What goes before every piece of data on a connection: how many bytes follow and to which call
/// they belong, the low bytes first.
struct FrameHeader {
  static constexpr std::size_t size = 8;
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;

  std::uint32_t bytes = 0;
  std::uint32_t call = 0;

  [[nodiscard]] std::array<std::byte, size> encode() const {
    std::array<std::byte, size> raw{};
    for (unsigned i = 0; i < 4; ++i) {
      raw[i] = static_cast<std::byte>(bytes >> (8 * i));
      raw[4 + i] = static_cast<std::byte>(call >> (8 * i));
    }
    return raw;
  }

  [[nodiscard]] static FrameHeader decode(const std::array<std::byte, size>& raw) {
    FrameHeader header;
    for (unsigned i = 0; i < 4; ++i) {
      header.bytes |= std::to_integer<std::uint32_t>(raw[i]) << (8 * i);
      header.call |= std::to_integer<std::uint32_t>(raw[4 + i]) << (8 * i);
    }
    return header;
  }
};

}  // namespace tutti
