#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tutti {

/// Translates addresses between ranks that can read each other's memory.
class SharedView {
 public:
  virtual ~SharedView() = default;

  /// The number that lets a reader find the first bytes of `data`, and how many bytes it covers;
  /// none if other ranks cannot see them.
  struct Published {
    std::uint64_t where = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] virtual std::optional<Published> publish(std::span<const std::byte> data) = 0;
  /// The address in this rank of data that the local rank `local` has published.
  [[nodiscard]] virtual const std::byte* resolve(std::uint32_t local, std::uint64_t where) = 0;
};

}  // namespace tutti
