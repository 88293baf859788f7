#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// Cross memory attach: copies private memory of other processes through the kernel
/// (process_vm_readv). The system permits it to root, and within one user unless ptrace is
/// restricted.
///
/// Thread-safe.
class CrossMemory {
 public:
  /// A random number in this process's private memory. A process that finds it at that address can
  /// read the memory of the right process.
  class Beacon {
   public:
    Beacon();
    Beacon(const Beacon&) = delete;
    Beacon& operator=(const Beacon&) = delete;

    struct Sight {
      std::uint64_t address = 0;
      std::uint64_t value = 0;
    };
    [[nodiscard]] Sight sight() const;

   private:
    std::uint64_t value_ = 0;
  };
  [[nodiscard]] static bool can_see(int pid, const Beacon::Sight& beacon);

  /// `pids` is ordered by place on the host.
  explicit CrossMemory(std::vector<int> pids) : pids_(std::move(pids)) {}

  /// True if the kernel can copy these bytes of this process; it cannot copy memory of devices.
  [[nodiscard]] static bool can_be_read(std::span<const std::byte> data);
  /// Copies memory of the process at place `local`. Throws peer_lost if it has ended or has freed
  /// the memory.
  void read(std::uint32_t local, std::uint64_t address, std::span<std::byte> to) const;

 private:
  std::vector<int> pids_;
};

}  // namespace tutti
