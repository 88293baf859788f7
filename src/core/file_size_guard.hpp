#pragma once

#include <signal.h>

namespace tutti {

/// While it lives, writes of this thread beyond the file size limit (ulimit -f) fail with EFBIG.
/// Without it SIGXFSZ would end the process without a message. The limit applies to shared memory
/// too. Async-signal-safe.
class FileSizeGuard {
 public:
  FileSizeGuard();
  ~FileSizeGuard();
  FileSizeGuard(const FileSizeGuard&) = delete;
  FileSizeGuard& operator=(const FileSizeGuard&) = delete;

 private:
  sigset_t before_{};
  bool was_pending_ = false;  // The pending signal is not ours to consume.
};

}  // namespace tutti
