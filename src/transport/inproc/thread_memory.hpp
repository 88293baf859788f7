#pragma once

#include <cstddef>

namespace tutti {

/// Memory shared by threads of one process. It is zero at first, and no page is used until it is
/// touched.
class ThreadMemory {
 public:
  /// Throws unsupported if there is not enough address space.
  explicit ThreadMemory(std::size_t bytes);
  ~ThreadMemory();
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace tutti
