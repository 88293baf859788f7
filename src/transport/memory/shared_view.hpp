#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tutti {

class CallMemory;

/// Translates addresses between ranks that can access each other's memory.
class SharedView {
 public:
  virtual ~SharedView() = default;

  /// The number that lets a reader find the first bytes of `data`, and how many bytes it covers;
  /// none if other ranks cannot see them.
  struct Published {
    std::uint64_t where = 0;
    std::size_t bytes = 0;
  };
  /// `memory`: the buffers of the current call, or null.
  [[nodiscard]] virtual std::optional<Published> publish(std::span<const std::byte> data,
                                                         const CallMemory* memory) = 0;
  /// The address in this rank of data that the local rank `local` has published.
  [[nodiscard]] virtual const std::byte* resolve(std::uint32_t local, std::uint64_t where) = 0;
  /// The same, for writing; null if that is not possible.
  [[nodiscard]] virtual std::byte* resolve_to_write(std::uint32_t local, std::uint64_t where) = 0;
  /// The address of so many bytes that this rank has published itself, and another rank has
  /// written.
  [[nodiscard]] virtual std::byte* own(std::uint64_t where, std::size_t bytes,
                                       const CallMemory* memory) = 0;
  /// Writes that other ranks make to `data` from now on have no effect here. False if they cannot
  /// be prevented.
  [[nodiscard]] virtual bool revoke(std::span<std::byte> data) = 0;

  /// True if other ranks can fetch() these bytes, which publish() does not know.
  [[nodiscard]] virtual bool can_be_fetched(std::span<const std::byte> /*data*/) { return false; }
  /// Has the kernel copy private memory of the local rank `local` to `to`. Throws peer_lost if that
  /// rank has ended, or has freed the memory.
  virtual void fetch(std::uint32_t /*local*/, std::uint64_t /*address*/,
                     std::span<std::byte> /*to*/) {}
};

}  // namespace tutti
