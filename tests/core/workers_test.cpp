#include "core/workers.hpp"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"

namespace tutti {
namespace {

TEST(Workers, RunEveryTaskOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> done(count);
    in_parallel(count, [&](std::size_t i) { ++done[i]; });
    for (const auto& each : done) EXPECT_EQ(each, 1);
  }
}

TEST(Workers, RethrowExceptionsOfTasks) {
  const auto fail = [] {
    in_parallel(100, [](std::size_t i) {
      if (i == 7) throw Error(ErrorCode::invalid_argument, "the seventh");
    });
  };
  test::expect_error(fail, ErrorCode::invalid_argument, "the seventh");
}

}  // namespace
}  // namespace tutti
