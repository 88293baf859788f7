#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "cli/bench/plan.hpp"
#include "cli/bench/request.hpp"
#include "support/errors.hpp"

namespace tutti::test {
namespace {

using cli::AlgorithmWish;
using cli::BenchPlan;
using cli::BenchRequest;
using cli::BenchSizes;
using cli::BenchTransport;

/// The request of `tutti bench` with these words.
BenchRequest parse(const std::vector<std::string>& words) {
  cli::Arguments arguments("tutti", "for a test", "tutti 0");
  const cli::Command command = arguments.root().command("bench", "");
  cli::BenchOptions options;
  options.add(command);
  std::vector<std::string> all{"bench"};
  all.insert(all.end(), words.begin(), words.end());
  (void)arguments.run(all);
  return options.request();
}

TEST(BenchRequest, HasDefaults) {
  const BenchRequest request = parse({});
  EXPECT_FALSE(request.collective);
  EXPECT_EQ(request.ranks, 0);
  EXPECT_EQ(request.transport, BenchTransport::automatic);
  EXPECT_EQ(request.sizes.least, 8);
  EXPECT_EQ(request.sizes.most, 64 << 20);
  EXPECT_EQ(request.ops, std::vector{Op::sum});
  EXPECT_EQ(request.dtypes, std::vector{DType::f32});
  EXPECT_EQ(request.reproducible, Reproducible::run);
  EXPECT_EQ(request.memory, measure::BufferPair::Kind::shared);
  EXPECT_TRUE(request.check);
}

TEST(BenchRequest, ParsesEveryValue) {
  const BenchRequest request = parse(
      {"allreduce", "-n",     "3",    "--transport", "tcp",  "-b",     "4K",      "-e",
       "1MiB",      "-i",     "4K",   "--sizes",     "64,8", "-o",     "max",     "-d",
       "half",      "--algo", "ring", "--algo",      "all",  "--algo", "auto",    "--reproducible",
       "order",     "-c",     "0",    "--private",   "-r",   "2",      "--iters", "7"});
  EXPECT_EQ(request.collective, Collective::allreduce);
  EXPECT_EQ(request.ranks, 3);
  EXPECT_EQ(request.transport, BenchTransport::tcp);
  EXPECT_EQ(request.sizes.least, 4096);
  EXPECT_EQ(request.sizes.most, 1 << 20);
  EXPECT_EQ(request.sizes.step, 4096);
  EXPECT_EQ(request.sizes.listed, (std::vector<std::uint64_t>{8, 64}));
  EXPECT_EQ(request.ops, std::vector{Op::max});
  EXPECT_EQ(request.dtypes, std::vector{DType::f16});
  ASSERT_EQ(request.algorithms.size(), 3);
  EXPECT_EQ(request.algorithms[0].algorithm, &algorithm("allreduce/ring"));
  EXPECT_EQ(request.algorithms[1].kind, AlgorithmWish::Kind::all);
  EXPECT_EQ(request.algorithms[2].kind, AlgorithmWish::Kind::automatic);
  EXPECT_EQ(request.reproducible, Reproducible::order);
  EXPECT_FALSE(request.check);
  EXPECT_EQ(request.memory, measure::BufferPair::Kind::private_to_process);
  EXPECT_EQ(request.root, 2);
  EXPECT_EQ(request.pace.iterations, 7);
}

TEST(BenchRequest, RefusesValuesWithoutMeaning) {
  const auto refuse = [](const std::vector<std::string>& words, const std::string& part) {
    expect_error([&] { (void)parse(words); }, ErrorCode::invalid_argument, part);
  };
  refuse({"allreduce", "-b", "4X"}, "4X");
  refuse({"allreduce", "-o", "summ"}, "Did you mean 'sum'?");
  refuse({"allreduce", "-d", "flaot"}, "Did you mean 'float'?");
  refuse({"allreduce", "--reproducible", "never"}, "never");
  refuse({"allreduce", "--transport", "pigeon"}, "pigeon");
}

TEST(BenchSizes, StepByFactorOrBytes) {
  using Sizes = std::vector<std::uint64_t>;
  EXPECT_EQ((BenchSizes{.least = 8, .most = 200, .factor = 4}.all()), (Sizes{8, 32, 128}));
  EXPECT_EQ((BenchSizes{.least = 0, .most = 8, .factor = 4}.all()), (Sizes{0, 4}));
  EXPECT_EQ((BenchSizes{.least = 8, .most = 30, .step = 10}.all()), (Sizes{8, 18, 28}));
  const BenchSizes listed{.listed = {1, 7}};
  EXPECT_EQ(listed.all(), (Sizes{1, 7}));
  EXPECT_EQ(listed.largest(), 7);
  EXPECT_EQ(listed.step_text(), "0(list)");
  EXPECT_EQ((BenchSizes{.step = 1024}.step_text()), "1024(bytes)");
  expect_error([] { (void)BenchSizes{.most = 1 << 20, .step = 1}.all(); },
               ErrorCode::invalid_argument, "more than 100000 sizes");
}

TEST(BenchPlan, HasAllSizesOfOneAlgorithmBeforeTheNext) {
  const BenchPlan plan =
      plan_bench(parse({"broadcast", "--sizes", "8,64", "--algo", "flat,chain", "-r", "1"}), 3);
  ASSERT_EQ(plan.workload.cases.size(), 4);
  EXPECT_EQ(plan.workload.cases[1].algorithm, "broadcast/flat");
  EXPECT_EQ(plan.workload.cases[1].count, 16);
  EXPECT_EQ(plan.workload.cases[2].algorithm, "broadcast/chain");
  EXPECT_EQ(plan.workload.cases[2].root, 1);
  expect_error(
      [] {
        (void)plan_bench(parse({"broadcast", "-r", "3"}), 3);
      },
      ErrorCode::invalid_argument, "root 3 is not one of the ranks 0 to 2");
}

}  // namespace
}  // namespace tutti::test
