#include "core/bounded_file.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

TEST(BoundedFile, ReadsTheWholeFile) {
  const TemporaryDirectory directory;
  const std::string text(100000, 'x');
  std::ofstream(directory.path("file")) << text;
  EXPECT_EQ(read_file(directory.path("file")), text);
  EXPECT_EQ(read_file(directory.path("file"), text.size()), text);
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST(BoundedFile, RejectsFilesAboveTheLimit) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("file")) << std::string(1025, 'x');
  const auto refused = [](const std::string& path) {
    expect_error([&] { (void)read_file(path, 1024); }, ErrorCode::invalid_argument,
                 "cannot read the file '" + path + "': it is longer than 1KiB");
  };
  refused(directory.path("file"));
  refused("/dev/zero");
}

TEST(BoundedFile, NamesTheFileAndTheCause) {
  const auto refused = [](const std::string& path, const std::string& why) {
    expect_error([&] { (void)read_file(path); }, ErrorCode::invalid_argument,
                 "cannot read the file '" + path + "': " + why);
  };
  refused("/no/such/file", "No such file or directory");
  refused("/tmp", "Is a directory");
}

}  // namespace
}  // namespace tutti::test
