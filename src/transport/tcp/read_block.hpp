#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tutti {

/// Memory that a connection reads into, as long as something refers to it. Its count is not
/// atomic: it changes with the connection's mutex for reading held.
///
/// The process keeps some blocks that nothing refers to, with their pages. A block from the system
/// costs a page fault for every 4 KiB, which takes longer than to read them.
class ReadBlock {
 public:
  static constexpr std::size_t size = std::size_t{256} << 10;

  ReadBlock() = default;
  /// On a cache line. No page is touched before data needs it.
  [[nodiscard]] static ReadBlock make() {
    ReadBlock block;
    block.memory_ = take();
    return block;
  }
  ReadBlock(const ReadBlock& other) : memory_(other.memory_) {
    if (memory_ != nullptr) ++memory_->uses;
  }
  ReadBlock(ReadBlock&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  ReadBlock& operator=(ReadBlock other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~ReadBlock() {
    if (memory_ != nullptr && --memory_->uses == 0) give_back(memory_);
  }

  [[nodiscard]] std::byte* get() const { return memory_->bytes; }
  [[nodiscard]] bool is_shared() const { return memory_->uses > 1; }

 private:
  struct Memory {
    Memory() {}  // Leaves the bytes as they are.
    std::uint32_t uses = 1;
    alignas(64) std::byte bytes[size];
  };
  struct Idle;

  [[nodiscard]] static Idle& idle();
  [[nodiscard]] static Memory* take();
  static void give_back(Memory* memory);

  Memory* memory_ = nullptr;
};

}  // namespace tutti
