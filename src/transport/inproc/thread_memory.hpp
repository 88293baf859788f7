#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace tutti {

/// The memory by which threads of one process reach each other; the last of them frees it.
class ThreadMemory {
 public:
  static ThreadMemory* create(std::size_t bytes, std::uint32_t users) {
    return new ThreadMemory(bytes, users);
  }
  void leave() {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  static constexpr std::align_val_t alignment{4096};

  ThreadMemory(std::size_t bytes, std::uint32_t users)
      : data_(static_cast<std::byte*>(::operator new(bytes, alignment))), users_(users) {
    std::fill_n(data_, bytes, std::byte{0});
  }
  ~ThreadMemory() { ::operator delete(data_, alignment); }

  std::byte* data_;
  std::atomic<std::uint32_t> users_;
};

}  // namespace tutti
