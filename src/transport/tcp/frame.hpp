#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// The header of every frame on a connection, little-endian: kind and number of bytes, call tag,
/// communicator. Data is padded to a multiple of 8 bytes, so that it stays aligned with the header.
struct FrameHeader {
  static constexpr std::size_t size = 16;
  static constexpr std::size_t most_bytes = std::size_t{1} << 24;

  enum class Kind : std::uint8_t {
    data = 0,
    /// Credit, without data: the receiver has consumed `bytes` more bytes of this communicator.
    grant = 1,
  };

  Kind kind = Kind::data;
  std::uint32_t bytes = 0;
  std::uint32_t call = 0;
  std::uint64_t context = 0;

  [[nodiscard]] std::size_t padding() const { return kind == Kind::data ? (8 - bytes % 8) % 8 : 0; }
  [[nodiscard]] bool is_sound() const {
    return bytes > 0 && bytes <= most_bytes && kind <= Kind::grant;
  }

  [[nodiscard]] std::array<std::byte, size> encode() const {
    std::array<std::byte, size> raw{};
    const std::uint32_t first = bytes | static_cast<std::uint32_t>(kind) << 28;
    for (unsigned i = 0; i < 4; ++i) {
      raw[i] = static_cast<std::byte>(first >> (8 * i));
      raw[4 + i] = static_cast<std::byte>(call >> (8 * i));
    }
    for (unsigned i = 0; i < 8; ++i) raw[8 + i] = static_cast<std::byte>(context >> (8 * i));
    return raw;
  }

  [[nodiscard]] static FrameHeader decode(const std::array<std::byte, size>& raw) {
    FrameHeader header;
    std::uint32_t first = 0;
    for (unsigned i = 0; i < 4; ++i) {
      first |= std::to_integer<std::uint32_t>(raw[i]) << (8 * i);
      header.call |= std::to_integer<std::uint32_t>(raw[4 + i]) << (8 * i);
    }
    for (unsigned i = 0; i < 8; ++i) {
      header.context |= std::to_integer<std::uint64_t>(raw[8 + i]) << (8 * i);
    }
    header.bytes = first & 0x0FFFFFFF;
    header.kind = static_cast<Kind>(first >> 28);
    return header;
  }
};

}  // namespace tutti
