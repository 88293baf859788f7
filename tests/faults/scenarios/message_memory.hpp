#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <tutti/memory.hpp>

namespace tutti::test {

/// Memory for one message: ordinary, or readable by other processes.
class MessageMemory {
 public:
  MessageMemory(std::size_t bytes, bool is_shared) : bytes_(bytes) {
    if (is_shared && bytes > 0) {
      shared_ = tutti::allocate(bytes);
    } else {
      own_.resize(bytes);
    }
  }
  ~MessageMemory() { tutti::deallocate(shared_); }
  MessageMemory(MessageMemory&& other) noexcept
      : bytes_(other.bytes_),
        own_(std::move(other.own_)),
        shared_(std::exchange(other.shared_, nullptr)) {}
  MessageMemory& operator=(MessageMemory&&) = delete;
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() {
    return {shared_ != nullptr ? static_cast<std::byte*>(shared_) : own_.data(), bytes_};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return const_cast<MessageMemory&>(*this).bytes();
  }
  /// Overwrites the memory, so that a late reader gets wrong data.
  void spoil() {
    if (bytes_ > 0) std::memset(bytes().data(), 0xEE, bytes_);
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> own_{};
  void* shared_ = nullptr;
};

}  // namespace tutti::test
