#include "core/descriptor_shortage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/forked_child.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

TEST(DescriptorShortage, LastsIfNoAttemptSucceedsForASecond) {
  const DescriptorShortage::Clock::time_point begin{};
  DescriptorShortage shortage;
  EXPECT_FALSE(shortage.lasts(begin + 1h));
  shortage.note(EMFILE, begin);
  EXPECT_FALSE(shortage.lasts(begin + 500ms));
  shortage.note(EMFILE, begin + 500ms);
  EXPECT_TRUE(shortage.lasts(begin + 1s));
  expect_error([&] { shortage.require_none("rank 1 cannot connect", begin + 1s); },
               ErrorCode::unsupported, "rank 1 cannot connect: Too many open files: raise the");
  shortage.note(0, begin + 1s);
  EXPECT_FALSE(shortage.lasts(begin + 1h));
  shortage.require_none("", begin + 1h);
  shortage.note(EAGAIN, begin + 1s);
  EXPECT_FALSE(shortage.lasts(begin + 1h)) << "another error";
}

TEST(FreeDescriptors, AreCounted) {
  ForkedChild child([]() -> std::string {
    const std::optional<std::size_t> before = free_descriptors();
    if (!before) return "";  // Without /proc.
    const int one = dup(0);
    if (free_descriptors() != *before - 1) return "an open one is not counted";
    const rlimit tight{.rlim_cur = 3, .rlim_max = 3};
    setrlimit(RLIMIT_NOFILE, &tight);
    close(one);
    return free_descriptors() == 0U ? "" : "there are none left";
  });
  EXPECT_EQ(child.wait(), "");
}

}  // namespace
}  // namespace tutti::test
