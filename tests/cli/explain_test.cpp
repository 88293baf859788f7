#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/command.hpp"
#include "support/golden.hpp"

namespace tutti::test {
namespace {

const std::string exercise_one = " --values '1,2,3,4;5,6,7,8;9,10,11,12;13,14,15,16'";

TEST(Explain, Collective) {
  expect_golden("cli/explain-allgather.txt", tutti("explain allgather").out);
  const Outcome run = tutti("explain reduce-scatter -p 3 --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json found = Json::parse(run.out);
  EXPECT_EQ(found.at("dual").get<std::string>(), "allgather");
  EXPECT_EQ(found.at("boxes_read").get<int>(), 9);
  EXPECT_EQ(tutti("explain allreduce --why").exit_code, 2);
}

TEST(Explain, Why) {
  const Outcome run = tutti("explain rabenseifner --why");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_golden("cli/explain-why.txt", run.out);
  const Json found = Json::parse(tutti("explain rabenseifner --why --json").out);
  EXPECT_EQ(found.at("algorithm").get<std::string>(), "allreduce/halving_doubling");
  EXPECT_NE(found.at("idea").get<std::string>().find("Rabenseifner"), std::string::npos);
  EXPECT_EQ(found.at("formula").at("rounds").get<std::string>(), "2L");
}

TEST(Explain, Numbers) {
  const Outcome run = tutti("explain reduce_scatter ring" + exercise_one);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_golden("cli/explain-values.txt", run.out);
  const Json found = Json::parse(tutti("explain reduce_scatter/ring --json" + exercise_one).out);
  EXPECT_EQ(found.at("output"), Json::parse("[[28],[32],[36],[40]]"));
  EXPECT_EQ(found.at("rounds").size(), 4U);
}

TEST(Explain, FoldsTablesToTheTerminal) {
  const Outcome run = shell("COLUMNS=60 " TUTTI_IN_SHELL " explain allgather/ring -p 12");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("\n          7 (h)"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace tutti::test
