#pragma once

#include <signal.h>

namespace tutti {

/// While it lives, what this thread writes beyond the limit on the size of files (ulimit -f) fails
/// with EFBIG. Otherwise SIGXFSZ would end the process without a word. Shared memory is a file,
/// too. A signal handler may use it.
class FileSizeGuard {
 public:
  FileSizeGuard();
  ~FileSizeGuard();
  FileSizeGuard(const FileSizeGuard&) = delete;
  FileSizeGuard& operator=(const FileSizeGuard&) = delete;

 private:
  sigset_t before_{};
  bool was_pending_ = false;  // It is then not for this to take.
};

}  // namespace tutti
