#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace tutti {

/// How ranks of a host wake one of them that sleeps on descriptors: each has a pipe, whose reading
/// end it watches beside its sockets, and whose writing end the others open when they first need
/// it. So one sleep waits for memory and sockets together.
///
/// Thread-safe.
class Doorbells {
 public:
  /// Where the writing end of a pipe is to be found.
  struct Address {
    int pid = 0;
    int fd = -1;
  };

  /// Makes this rank's own. Throws unsupported if the system has no pipe to give.
  Doorbells();
  ~Doorbells();
  Doorbells(const Doorbells&) = delete;
  Doorbells& operator=(const Doorbells&) = delete;

  [[nodiscard]] Address address() const;
  /// Those of all, by place on the host. Called once, before ring().
  void set_addresses(std::vector<Address> addresses);

  /// Wakes the rank at this place, if it sleeps on its descriptors. Never blocks.
  void ring(std::uint32_t place);

  /// Becomes readable when somebody rings,
  [[nodiscard]] int fd() const { return read_end_; }
  /// until this has been called.
  void clear() const;

 private:
  int read_end_ = -1;
  int write_end_ = -1;
  std::mutex mutex_;
  std::vector<Address> addresses_;
  std::vector<int> opened_;  // By place: -1 if not yet, -2 if it cannot be.
};

}  // namespace tutti
