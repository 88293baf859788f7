#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

/// Records the process in which an object was created.
///
/// A forked child has a copy of every object, but not the threads that serve it, and its locks are
/// in whatever state other threads left them. So every owner of a thread, a lock or a connection
/// first checks whether it was inherited. The check is one load and no system call.
class ProcessOrigin {
 public:
  ProcessOrigin() : forks_(forks.load(std::memory_order_relaxed)) {}

  /// False in a process that was forked, without an exec, from the one that created the object.
  [[nodiscard]] bool is_here() const { return forks_ == forks.load(std::memory_order_relaxed); }

 private:
  /// The number of fork() calls between the first process and this one.
  static std::atomic<std::uint32_t> forks;
  static const bool are_forks_counted;

  std::uint32_t forks_;
};

}  // namespace tutti
