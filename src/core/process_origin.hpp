#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

/// Remembers in which process an object was made.
///
/// A child that was forked has a copy of every object, but none of the threads that serve it, and
/// its locks as other threads had left them. So whatever owns a thread, a lock or a connection asks
/// first whether it was inherited. That takes one load and no system call.
class ProcessOrigin {
 public:
  ProcessOrigin() : forks_(forks.load(std::memory_order_relaxed)) {}

  /// False in a process that was forked, without an exec, from the one that made the object.
  [[nodiscard]] bool is_here() const { return forks_ == forks.load(std::memory_order_relaxed); }

 private:
  /// How often fork() was called on the way to this process.
  static std::atomic<std::uint32_t> forks;
  static const bool are_forks_counted;

  std::uint32_t forks_;
};

}  // namespace tutti
