#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace tutti {

/// Wakes ranks of the host that sleep on descriptors. Each rank has a pipe. It polls the read end
/// together with its sockets; other ranks open the write end on first use. So one sleep waits for
/// shared memory and sockets together.
///
/// Thread-safe.
class Doorbells {
 public:
  /// Where to find the write end of a pipe: /proc/<pid>/fd/<fd>.
  struct Address {
    int pid = 0;
    int fd = -1;
  };

  /// Creates this rank's pipe. Throws unsupported if the system refuses.
  Doorbells();
  ~Doorbells();
  Doorbells(const Doorbells&) = delete;
  Doorbells& operator=(const Doorbells&) = delete;

  [[nodiscard]] Address address() const;
  /// Sets the addresses of all ranks, by place on the host. Call once, before ring().
  void set_addresses(std::vector<Address> addresses);

  /// Wakes the rank at this place if it sleeps on its descriptors. Never blocks.
  void ring(std::uint32_t place);

  /// Readable after a ring, until clear().
  [[nodiscard]] int fd() const { return read_end_; }
  void clear() const;

 private:
  int read_end_ = -1;
  int write_end_ = -1;
  std::mutex mutex_;
  std::vector<Address> addresses_;
  std::vector<int> opened_;  // By place: -1 if not opened yet, -2 if it cannot be opened.
};

}  // namespace tutti
