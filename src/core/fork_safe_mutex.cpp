#include "core/fork_safe_mutex.hpp"

#include <pthread.h>

#include <atomic>

namespace tutti {
namespace {

constinit std::atomic<ForkSafeMutex*> newest{nullptr};
/// The newest one that the thread which forks has locked: others may be made meanwhile.
constinit ForkSafeMutex* newest_locked = nullptr;

}  // namespace

ForkSafeMutex::ForkSafeMutex() {
  [[maybe_unused]] static const bool is_registered =
      pthread_atfork(lock_all, unlock_all, unlock_all) == 0;
  next_ = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(next_, this, std::memory_order_release)) {
  }
}

/// In the thread that forks. Threads that fork at the same time lock in the same order.
void ForkSafeMutex::lock_all() {
  ForkSafeMutex* const first = newest.load(std::memory_order_acquire);
  for (ForkSafeMutex* each = first; each != nullptr; each = each->next_) each->lock();
  newest_locked = first;
}

/// In the same thread, or in its copy in the child, which glibc allows to unlock.
void ForkSafeMutex::unlock_all() {
  for (ForkSafeMutex* each = newest_locked; each != nullptr;) {
    ForkSafeMutex* const next = each->next_;
    each->unlock();
    each = next;
  }
}

}  // namespace tutti
