#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// What goes before every piece of data on a connection, the low bytes first: how many bytes
/// follow, to which communicator they belong and to which of its calls. Data is padded to a
/// multiple of 8 bytes, so that what follows a header is aligned if the header is.
struct FrameHeader {
  static constexpr std::size_t size = 16;
  static constexpr std::size_t most_bytes = std::size_t{1} << 24;

  enum class Kind : std::uint8_t {
    data = 0,
    /// No data follows. The receiver has consumed so many more bytes of the communicator's.
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
