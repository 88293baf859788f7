#include "core/whole_file.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "core/bounded_file.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

std::ptrdiff_t files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder),
                       std::filesystem::directory_iterator());
}

TEST(WholeFile, MakesAndReplacesFiles) {
  const TemporaryDirectory folder;
  const std::string path = folder.path("file");
  for (const std::string& text : {std::string("one"), std::string(100000, 'x'), std::string()}) {
    EXPECT_EQ(write_whole_file(path, text), 0);
    EXPECT_EQ(read_file(path), text);
    EXPECT_EQ(files_in(folder.path()), 1);
  }
}

TEST(WholeFile, ReportsWhyNot) {
  const TemporaryDirectory folder;
  EXPECT_EQ(write_whole_file(folder.path("no/file"), "text"), ENOENT);
  std::filesystem::create_directory(folder.path("folder"));
  EXPECT_EQ(write_whole_file(folder.path("folder"), "text"), EISDIR);
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(WholeFile, DoesNotReplaceDevices) {
  EXPECT_EQ(write_whole_file("/dev/null", "text"), 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

/// SIGXFSZ kills the process in the middle of the file, as SIGKILL might.
TEST(WholeFile, KilledProcessLeavesNothing) {
  const TemporaryDirectory folder;
  const std::string path = folder.path("file");
  ASSERT_EQ(write_whole_file(path, "old"), 0);
  for (const std::string& each : {path, folder.path("another")}) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit none{.rlim_cur = 0, .rlim_max = 0};
      setrlimit(RLIMIT_CORE, &none);
      const rlimit limit{.rlim_cur = 5000, .rlim_max = 5000};
      setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_DFL);
      _exit(write_whole_file(each, std::string(10000, 'x')));
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(files_in(folder.path()), 1);
  }
}

}  // namespace
}  // namespace tutti::test
