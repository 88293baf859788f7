#include "api/group/rank_descriptor.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"

namespace tutti {
namespace {

RankDescriptor descriptor() {
  return {.host = "host",
          .network = "network",
          .name = "name",
          .pid = 42,
          .heap_fd = -1,
          .cores = {0, 3},
          .transport = "tcp"};
}

TEST(RankDescriptor, RoundTrips) {
  const RankDescriptor read = read_rank_descriptor(write(descriptor()));
  EXPECT_EQ(write(read), write(descriptor()));
  EXPECT_EQ(read.heap_fd, -1);
  EXPECT_EQ(read.cores, (std::vector<int>{0, 3}));
  EXPECT_EQ(read.transport, "tcp");
}

TEST(RankDescriptor, NamesMayBeAnyBytes) {
  RankDescriptor odd = descriptor();
  odd.name = "\xe9mile";
  EXPECT_EQ(read_rank_descriptor(write(odd)).name, "\xef\xbf\xbdmile");
}

TEST(RankDescriptor, InvalidTextIsRejected) {
  const auto refused = [](const std::string& what, const std::string& instead) {
    std::string text = write(descriptor());
    ASSERT_NE(text.find(what), std::string::npos) << what;
    text.replace(text.find(what), what.size(), instead);
    test::expect_error([&] { (void)read_rank_descriptor(text); }, ErrorCode::mismatch,
                       "the same version");
  };
  refused("{", "");
  refused("\"pid\":42", "\"pid\":4294967338");
  refused("\"pid\":42", "\"pid\":1e300");
  refused("\"pid\":42", "\"pid\":true");
  refused("\"transport\":\"tcp\"", "\"transport\":2");
  refused("\"cores\":[0,3]", "\"cores\":[0.5]");
  refused("\"host\"", "\"hast\"");
}

}  // namespace
}  // namespace tutti
