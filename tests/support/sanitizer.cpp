#include "support/sanitizer.hpp"

#include <pthread.h>

/// Functions of AddressSanitizer's runtime. Its own fork() calls them since Clang 17; before, a
/// child that was forked while another thread allocated waited for these locks forever.
// NOLINTBEGIN(bugprone-reserved-identifier)
namespace __lsan {
[[gnu::weak]] void LockAllocator();
[[gnu::weak]] void UnlockAllocator();
}  // namespace __lsan
namespace __sanitizer {
[[gnu::weak]] void StackDepotLockAll();
[[gnu::weak]] void StackDepotUnlockAll();
}  // namespace __sanitizer
// NOLINTEND(bugprone-reserved-identifier)

namespace tutti::test {
namespace {

void lock() {
  __lsan::LockAllocator();
  __sanitizer::StackDepotLockAll();
}

void unlock() {
  __sanitizer::StackDepotUnlockAll();
  __lsan::UnlockAllocator();
}

}  // namespace

bool lock_allocator_around_forks() {
  if (!is_sanitized) return true;
  if (sanitizer == "thread") return false;
#if defined(__clang_major__) && __clang_major__ >= 17
  return true;
#else
  const bool is_possible = __lsan::LockAllocator != nullptr && __lsan::UnlockAllocator != nullptr &&
                           __sanitizer::StackDepotLockAll != nullptr &&
                           __sanitizer::StackDepotUnlockAll != nullptr;
  return is_possible && pthread_atfork(lock, unlock, unlock) == 0;
#endif
}

}  // namespace tutti::test
