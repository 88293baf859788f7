#pragma once

#include <mutex>

namespace tutti {

/// A mutex that a forked child never finds locked by a thread which it does not have: fork() locks
/// it first, and then unlocks it in both processes. For sections in which no other such mutex is
/// locked. It must last until the process ends.
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  static void lock_all();
  static void unlock_all();

  std::mutex mutex_;
  ForkSafeMutex* next_ = nullptr;  // In the list of all.
};

}  // namespace tutti
