#include "topology/rank_list.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/network_file.hpp>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

namespace tutti {
namespace {

const std::vector<Rank> expected{Rank{0}, Rank{2}, Rank{1}};

TEST(RankList, TakesNumbersAndNames) {
  Network network = generate("star:p=3");
  EXPECT_EQ(parse_rank_list("0,2,1", 3, "--place"), expected);
  EXPECT_EQ(parse_rank_list("0 2\n1", network, "--place"), expected);
  EXPECT_EQ(parse_rank_list("r0,r2,r1", network, "--place"), expected);
  network.nodes[2].name = "1";  // A name takes precedence over a number.
  EXPECT_EQ(parse_rank_list("0,1", network, "--place"), (std::vector<Rank>{Rank{0}, Rank{2}}));
}

TEST(RankList, ReadsFiles) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("order.txt");
  std::ofstream(path) << "0, 2,\n1\n";
  EXPECT_EQ(parse_rank_list("file:" + path, 3, "--place"), expected);
}

TEST(RankList, NamesWhatIsWrong) {
  const Network network = generate("star:p=3");
  test::expect_error([] { (void)parse_rank_list("0,3", 3, "TUTTI_ORDER"); },
                     ErrorCode::invalid_argument, "TUTTI_ORDER: '3' is not the number");
  test::expect_error([] { (void)parse_rank_list("0,1,0", 3, "--place"); },
                     ErrorCode::invalid_argument, "names '0' twice");
  test::expect_error([] { (void)parse_rank_list(" ,", 3, "--place"); }, ErrorCode::invalid_argument,
                     "names no rank");
  test::expect_error([&] { (void)parse_rank_list("r0,s1", network, "--place"); },
                     ErrorCode::invalid_argument, "no rank of star:p=3 is called 's1'");
  test::expect_error([&] { (void)parse_rank_list("file:/nowhere/at/all", network, "--place"); },
                     ErrorCode::invalid_argument, "/nowhere/at/all");
}

}  // namespace
}  // namespace tutti
