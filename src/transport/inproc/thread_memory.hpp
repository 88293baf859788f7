#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// Memory shared by threads of one process, freed by the last of them. It is zero at first and
/// takes no memory until it is touched.
class ThreadMemory {
 public:
  /// `users`: how many times leave() will be called. Throws unsupported if there is not enough
  /// address space.
  [[nodiscard]] static ThreadMemory* create(std::size_t bytes, std::uint32_t users);
  void leave();

  [[nodiscard]] std::byte* data() const { return data_; }

  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;

 private:
  ThreadMemory(std::byte* data, std::size_t bytes, std::uint32_t users)
      : data_(data), bytes_(bytes), users_(users) {}
  ~ThreadMemory();

  std::byte* data_;
  std::size_t bytes_;
  std::atomic<std::uint32_t> users_;
};

}  // namespace tutti
