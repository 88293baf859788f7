#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tutti {

/// How ranks that share memory find each other's bytes.
class SharedView {
 public:
  virtual ~SharedView() = default;

  /// What to write into a note so that its reader finds the first bytes of `data`, and how many;
  /// none if others do not see them.
  struct Published {
    std::uint64_t where = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] virtual std::optional<Published> publish(std::span<const std::byte> data) = 0;
  /// Where this rank sees what rank `local` of the host has published.
  [[nodiscard]] virtual const std::byte* resolve(std::uint32_t local, std::uint64_t where) = 0;
};

}  // namespace tutti
