#include "core/file_size_guard.hpp"

#include <cerrno>
#include <ctime>

namespace tutti {
namespace {

sigset_t file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

FileSizeGuard::FileSizeGuard() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  const sigset_t blocked = file_size_signal();
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

FileSizeGuard::~FileSizeGuard() {
  const int error = errno;
  const sigset_t raised = file_size_signal();
  constexpr timespec at_once{};
  if (!was_pending_) sigtimedwait(&raised, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace tutti
