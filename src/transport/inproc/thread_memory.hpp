#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// The memory by which threads of one process reach each other; the last of them gives it back.
/// Begins as zeros, and takes no memory until it is touched.
class ThreadMemory {
 public:
  /// Throws unsupported if there are no addresses for so much.
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
