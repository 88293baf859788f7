#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "support/command.hpp"

namespace tutti::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* bench = TUTTI_IN_SHELL " bench allreduce -b 8 -e 1M -f 64 --iters 3";

TEST(Tls, MakesASecretByItself) {
  const Outcome run =
      shell(std::string("env -u TUTTI_SECRET TUTTI_TLS=1 ") + bench + " -n 4 --transport tcp");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_TRUE(contains(run.out, "TCP with TLS")) << run.out;
  EXPECT_TRUE(contains(run.out, "# Out of bounds values : 0 OK\n")) << run.out;
}

TEST(Tls, NeedsASecret) {
  const Outcome run = shell(std::string("env -u TUTTI_SECRET TUTTI_TLS=1 TUTTI_RANK=0 TUTTI_SIZE=2 "
                                        "TUTTI_ROOT=127.0.0.1:29500 ") +
                            bench);
  EXPECT_NE(run.exit_code, 0);
  EXPECT_TRUE(contains(run.err, "TUTTI_SECRET, which is not set")) << run.err;
}

TEST(Tls, MustBeTheSameOnAllRanks) {
  for (const std::string who : {"$TUTTI_RANK", "$((1 - TUTTI_RANK))"}) {
    const auto begun = std::chrono::steady_clock::now();
    const Outcome run = tutti("run -n 2 -- sh -c 'export TUTTI_TLS=" + who +
                              " TUTTI_TRANSPORT=tcp; exec " + bench + "'");
    EXPECT_NE(run.exit_code, 0);
    EXPECT_TRUE(contains(run.err, "TUTTI_TLS=1 for all ranks, or for none")) << run.err;
    // One rank reports it at once, and the job ends.
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  }
}

}  // namespace
}  // namespace tutti::test
