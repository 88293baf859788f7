#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tutti {

/// What the kernel has mapped in the address space of this process, asked by an ioctl on
/// /proc/self/maps (PROCMAP_QUERY, Linux 6.11), which takes half a microsecond.
///
/// Thread-safe. An answer may be out of date as soon as another thread maps or unmaps memory.
class MemoryMap {
 public:
  /// As in struct stat. Of anonymous memory: zeros.
  struct File {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const File&) const = default;
  };
  struct Area {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    File file{};
    std::uint64_t offset = 0;  ///< Of the first byte in the file.
    std::uint64_t page_bytes = 0;
    bool is_writable = false;  ///< Can be read and written.
    bool is_shared = false;
  };

  MemoryMap();
  ~MemoryMap();
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  /// False if the kernel cannot be asked: it is older, there is no /proc, or the program has closed
  /// the file. Then areas that are not found may exist.
  [[nodiscard]] bool can_be_asked() const { return can_be_asked_.load(std::memory_order_relaxed); }
  /// To be called in a forked child, which has inherited the view of its parent. Async-signal-safe.
  void reopen();
  /// The area that contains the address; none if nothing is mapped there.
  [[nodiscard]] std::optional<Area> at(std::uintptr_t address) const;
  /// The first shared mapping of a file that ends behind the address.
  [[nodiscard]] std::optional<Area> next_shared_file(std::uintptr_t address) const;

 private:
  [[nodiscard]] std::optional<Area> ask(std::uintptr_t address, std::uint64_t what) const;

  int fd_;
  mutable std::atomic<bool> can_be_asked_{true};
};

}  // namespace tutti
