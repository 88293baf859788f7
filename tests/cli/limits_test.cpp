#include <chrono>

#include <gtest/gtest.h>

#include "cli/run_support.hpp"
#include "support/command.hpp"
#include "support/sanitizer.hpp"

/// Ranks under tight limits of the system.
namespace tutti::test {
namespace {

const std::string bench = std::string(TUTTI_IN_SHELL) + " bench allreduce -b 8 -e 8 --iters 2";

/// Two ranks, each started after a line of shell.
Outcome two_ranks(const std::string& before, const std::string& variables = "") {
  return tutti("run -n 2 -x TUTTI_TIMEOUT=40 " + variables + " -- sh -c '" + before + "; exec " +
               bench + "'");
}

TEST(Limits, SmallFilesLeaveTcp) {
  for (const char* const limit : {"ulimit -f 0", "ulimit -f 100"}) {
    const Outcome run = two_ranks(limit);
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_TRUE(contains(run.out, "TCP")) << run.out;
  }
  const Outcome refused = two_ranks("ulimit -f 4", "-x TUTTI_TRANSPORT=shm");
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_TRUE(contains(refused.err, "raise the limit (ulimit -f), which is ")) << refused.err;
}

TEST(Limits, SmallStackIsEnough) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers take more stack";
  for (const char* const transport : {"shm", "tcp"}) {
    const Outcome run = two_ranks("ulimit -s 64", std::string("-x TUTTI_TRANSPORT=") + transport);
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  }
}

TEST(Limits, FewDescriptorsAreReportedAtOnce) {
  const auto begun = std::chrono::steady_clock::now();
  for (const char* const limit : {"5", "8", "9", "12"}) {
    const std::string set = std::string("ulimit -n ") + limit;
    for (const std::string& where : {set, "[ $TUTTI_RANK = 0 ] || " + set}) {
      const Outcome run = two_ranks(where);
      EXPECT_NE(run.exit_code, 0) << run.out;
      EXPECT_TRUE(contains(run.err, "raise the limit (ulimit -n), which is " + std::string(limit)))
          << where << ": " << run.err;
    }
  }
  const Outcome run = two_ranks("[ $TUTTI_RANK = 0 ] || ulimit -n 10");
  EXPECT_TRUE(contains(run.err, "[0] tutti: rank 1 on "))
      << "the other ranks report it too: " << run.err;
  // Otherwise each run would have taken the timeout.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(40));
}

TEST(Limits, MissingProcLeavesTcp) {
  const std::string in_namespace = "unshare -mn sh -c 'mount -t tmpfs none /proc && ";
  if (shell(in_namespace + "true'").exit_code != 0) GTEST_SKIP() << "no namespaces here";
  const Outcome run = shell(in_namespace + "ip link set lo up && exec " + TUTTI_IN_SHELL +
                            " bench allreduce -n 2 -b 8 -e 8 --iters 2'");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_TRUE(contains(run.out, "TCP")) << run.out;
}

}  // namespace
}  // namespace tutti::test
