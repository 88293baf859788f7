#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/memory/adopted_memory.hpp"

namespace tutti {

/// The buffers of the current call that are ordinary memory and that other processes can reach: see
/// AdoptedMemory.
class CallMemory {
 public:
  /// Begins a call with these buffers, which may overlap.
  void enter(std::span<std::byte> input, std::span<std::byte> output);
  /// Ends it. The program may free the buffers.
  void leave() {
    for (AdoptedMemory::Hold& hold : holds_) hold.release();
  }
  /// Ends the call at the end of the scope.
  class Visit {
   public:
    explicit Visit(CallMemory& memory) : memory_(memory) {}
    ~Visit() { memory_.leave(); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    CallMemory& memory_;
  };

  /// The place of these bytes in the file of the heap; none if peers cannot reach all of them.
  [[nodiscard]] std::optional<std::uint64_t> publish(std::span<const std::byte> data) const {
    for (const AdoptedMemory::Hold& hold : holds_) {
      const AdoptedMemory::Buffer* const buffer = hold.buffer();
      if (buffer != nullptr && buffer->contains(data)) return buffer->publish(data);
    }
    return std::nullopt;
  }
  /// The bytes that a peer has written at this place of the file; null if they are in no buffer.
  [[nodiscard]] std::byte* fetch(std::uint64_t where, std::size_t bytes) const {
    for (const AdoptedMemory::Hold& hold : holds_) {
      const AdoptedMemory::Buffer* const buffer = hold.buffer();
      if (buffer == nullptr) continue;
      if (std::byte* const data = buffer->fetch(where, bytes)) return data;
    }
    return nullptr;
  }

 private:
  std::array<AdoptedMemory::Hold, 2> holds_;
};

}  // namespace tutti
