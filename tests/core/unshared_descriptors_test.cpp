#include "core/unshared_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/forked_child.hpp"

namespace tutti::test {
namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(UnsharedDescriptors, AreClosedInChildrenOnly) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UnsharedDescriptors::add(ends[0]);
  UnsharedDescriptors::add(ends[1]);
  UnsharedDescriptors::remove(ends[1]);
  ForkedChild child([&] {
    return is_open(ends[0]) ? "still open" : !is_open(ends[1]) ? "closed though removed" : "";
  });
  EXPECT_EQ(child.wait(), "");
  EXPECT_TRUE(is_open(ends[0]));
  UnsharedDescriptors::remove(ends[0]);
  ForkedChild later([&] { return is_open(ends[0]) ? "" : "closed though removed"; });
  EXPECT_EQ(later.wait(), "");
  close(ends[0]);
  close(ends[1]);
}

TEST(UnsharedDescriptors, IgnoreInvalidNumbers) {
  UnsharedDescriptors::add(-1);
  UnsharedDescriptors::remove(-1);
  UnsharedDescriptors::add(1 << 30);
  UnsharedDescriptors::remove(1 << 30);
}

}  // namespace
}  // namespace tutti::test
