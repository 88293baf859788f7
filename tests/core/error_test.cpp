#include <gtest/gtest.h>

#include <tutti/error.hpp>

namespace tutti {
namespace {

TEST(Error, CodesAreNamedAsInTheSource) {
  EXPECT_EQ(name(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_EQ(name(ErrorCode::unsupported), "unsupported");
  EXPECT_EQ(name(ErrorCode::mismatch), "mismatch");
  EXPECT_EQ(name(ErrorCode::timed_out), "timed_out");
  EXPECT_EQ(name(ErrorCode::peer_lost), "peer_lost");
  EXPECT_EQ(name(ErrorCode::internal), "internal");
}

TEST(Error, KeepsItsCodeAndMessage) {
  try {
    throw Error(ErrorCode::peer_lost, "rank 3 is gone");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "rank 3 is gone");
    EXPECT_EQ(dynamic_cast<const Error&>(error).code(), ErrorCode::peer_lost);
  }
}

}  // namespace
}  // namespace tutti
