#include <cstdlib>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "api/settings.hpp"
#include "support/errors.hpp"
#include "support/variable.hpp"

namespace tutti::test {
namespace {

std::string chosen(const Communicator& communicator, std::uint64_t count) {
  return communicator.algorithm_for(
      {.collective = Collective::allreduce, .count = count, .dtype = DType::f32});
}

TEST(Choices, VariableForcesAlgorithms) {
  const Variable algorithm("TUTTI_ALGO", "allreduce/ring@-4KiB,allreduce/binomial@4097-");
  run_threads(3, [](Communicator& communicator) {
    EXPECT_EQ(chosen(communicator, 8), "allreduce/ring");
    EXPECT_EQ(chosen(communicator, 1024), "allreduce/ring");
    EXPECT_EQ(chosen(communicator, 1025), "allreduce/binomial");
    for (const std::uint64_t count : {1, 1024, 1025, 100000}) {
      std::vector<float> data(count, 1);
      communicator.all_reduce(data);
      EXPECT_EQ(data.back(), 3);
    }
  });
}

TEST(Choices, UnknownValuesAreErrors) {
  const auto refused = [](const char* name, const std::string& value, const std::string& part) {
    const Variable variable(name, value);
    expect_error([] { (void)settings_from_environment(); }, ErrorCode::invalid_argument, part);
  };
  refused("TUTTI_ALGO", "allreduce/rung", "Did you mean 'allreduce/ring'?");
  refused("TUTTI_PROTO", "simple", "auto, copy or direct");
  refused("TUTTI_SLICE", "1", "1KiB");
  refused("TUTTI_SLICE", "big", "64KiB");
  refused("TUTTI_RULES", "/nowhere/at/all", "/nowhere/at/all");
  refused("TUTTI_PROFILE", "/nowhere/at/all", "/nowhere/at/all");
}

TEST(Choices, UnknownVariablesAreNamed) {
  EXPECT_EQ(unknown_variables(), "");
  const Variable mistyped("TUTTI_ALG", "allreduce/ring");
  EXPECT_NE(unknown_variables().find("TUTTI_ALG is set"), std::string::npos);
  EXPECT_NE(unknown_variables().find("Did you mean 'TUTTI_ALGO'?"), std::string::npos);
}

TEST(Choices, CopiesAndSlicesGiveTheSameSums) {
  for (const std::size_t direct_from : {std::size_t{1}, std::size_t{4096}, ~std::size_t{0}}) {
    for (const std::size_t slice : {1024, 5000, 1 << 20}) {
      run_threads(3, [&](Communicator& communicator) {
        const CallOptions options{.algorithm = "allreduce/ring",
                                  .tuning = {.direct_from = direct_from, .slice_bytes = slice}};
        std::vector<double> data(30011, communicator.rank() + 1.0);
        communicator.all_reduce(data, Op::sum, options);
        EXPECT_EQ(data.front(), 6);
        EXPECT_EQ(data.back(), 6);
      });
    }
  }
}

TEST(Choices, KnownNetworkIsSimulated) {
  const Variable network("TUTTI_TOPO_FILE", "torus:2x2");
  run_threads(4, [](Communicator& communicator) {
    std::vector<float> data(1 << 16, 1);
    communicator.all_reduce(data);
    EXPECT_EQ(data.back(), 4);
    // Half of the ranks still know their places in the network.
    auto half = communicator.split(communicator.rank() % 2, communicator.rank());
    half->all_reduce(data);
    EXPECT_EQ(data.back(), 8);
  });
  expect_error([] { run_threads(3, [](Communicator&) {}); }, ErrorCode::invalid_argument,
               "describes a network of 4 ranks, and here are 3");
}

TEST(Choices, InvalidNetworkIsAnError) {
  const Variable network("TUTTI_TOPO_FILE", "tors:2x2");
  expect_error([] { (void)settings_from_environment(); }, ErrorCode::invalid_argument, "torus");
}

}  // namespace
}  // namespace tutti::test
