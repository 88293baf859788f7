#include "transport/shm/cross_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include <tutti/error.hpp>

#include "core/random_bytes.hpp"
#include "core/system_reason.hpp"

namespace tutti {
namespace {

iovec remote(std::uint64_t address, std::size_t bytes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process is a number here.
  return {.iov_base = reinterpret_cast<void*>(address), .iov_len = bytes};
}

}  // namespace

CrossMemory::Beacon::Beacon() {
  while (value_ == 0) fill_at_random(std::as_writable_bytes(std::span(&value_, 1)));
}

CrossMemory::Beacon::Sight CrossMemory::Beacon::sight() const {
  return {.address = reinterpret_cast<std::uint64_t>(&value_), .value = value_};
}

bool CrossMemory::can_see(int pid, const Beacon::Sight& beacon) {
  std::uint64_t found = 0;
  const iovec to{.iov_base = &found, .iov_len = sizeof found};
  const iovec from = remote(beacon.address, sizeof found);
  return beacon.value != 0 && process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof found &&
         found == beacon.value;
}

bool CrossMemory::can_be_read(std::span<const std::byte> data) {
  std::array<std::byte, 2> ends{};
  const iovec to{.iov_base = ends.data(), .iov_len = ends.size()};
  const auto first = reinterpret_cast<std::uint64_t>(data.data());
  const std::array from{remote(first, 1), remote(first + data.size() - 1, 1)};
  return process_vm_readv(getpid(), &to, 1, from.data(), from.size(), 0) == ends.size();
}

void CrossMemory::read(std::uint32_t local, std::uint64_t address, std::span<std::byte> to) const {
  while (!to.empty()) {
    const iovec target{.iov_base = to.data(), .iov_len = to.size()};
    const iovec from = remote(address, to.size());
    const ssize_t got = process_vm_readv(pids_[local], &target, 1, &from, 1, 0);
    if (got <= 0) {
      throw Error(ErrorCode::peer_lost, "cannot read the memory of process " +
                                            std::to_string(pids_[local]) + ": " +
                                            system_reason(got == 0 ? EFAULT : errno));
    }
    address += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace tutti
