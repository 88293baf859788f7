#pragma once

#include "transport/memory/shared_view.hpp"

namespace tutti {

/// Threads share one address space: the number in a descriptor is the address itself.
class ThreadView final : public SharedView {
 public:
  std::optional<Published> publish(std::span<const std::byte> data,
                                   const CallMemory* /*memory*/) override {
    return Published{.where = reinterpret_cast<std::uint64_t>(data.data()), .bytes = data.size()};
  }
  const std::byte* resolve(std::uint32_t /*local*/, std::uint64_t where) override {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a descriptor carries a number.
    return reinterpret_cast<const std::byte*>(where);
  }
  std::byte* resolve_to_write(std::uint32_t /*local*/, std::uint64_t where) override {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a descriptor carries a number.
    return reinterpret_cast<std::byte*>(where);
  }
  std::byte* own(std::uint64_t where, std::size_t /*bytes*/,
                 const CallMemory* /*memory*/) override {
    return resolve_to_write(0, where);
  }
  /// A thread that writes cannot be stopped, but it will soon have finished.
  bool revoke(std::span<std::byte> /*data*/) override { return false; }
};

}  // namespace tutti
