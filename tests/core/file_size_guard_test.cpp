#include "core/file_size_guard.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

#include "core/system_reason.hpp"
#include "support/forked_child.hpp"

namespace tutti::test {
namespace {

void allow_little() {
  const rlimit little{.rlim_cur = 2048, .rlim_max = 2048};
  setrlimit(RLIMIT_FSIZE, &little);
}

int grow() {
  const int file = memfd_create("test", MFD_CLOEXEC);
  return ftruncate(file, 4096) == 0 ? 0 : errno;
}

TEST(FileSizeGuard, TurnsTheSignalIntoAnError) {
  ForkedChild child([]() -> std::string {
    allow_little();
    for (int i = 0; i < 2; ++i) {
      const FileSizeGuard guard;
      if (grow() != EFBIG) return "no error";
    }
    if (system_reason(EFBIG).find("(ulimit -f), which is 2") == std::string::npos) {
      return system_reason(EFBIG);
    }
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGXFSZ) == 1 ? "it is still to come" : "";
  });
  EXPECT_EQ(child.wait(), "");
}

TEST(FileSizeGuard, RestoresTheSignal) {
  ForkedChild child([]() -> std::string {
    allow_little();
    { const FileSizeGuard guard; }
    (void)grow();
    return "not ended";
  });
  EXPECT_EQ(child.wait(), " ended by signal " + std::to_string(SIGXFSZ));
}

}  // namespace
}  // namespace tutti::test
