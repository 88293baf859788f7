#include "support/processes.hpp"

#include <gtest/gtest.h>

#include "support/collective_check.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

/// Every algorithm and more, as one rank of a process group sees them.
std::vector<Trial> trials(std::uint32_t ranks) {
  std::vector<Trial> all;
  for (const Algorithm* algorithm : every_algorithm()) {
    for (const std::uint64_t count : {0U, 1U, 13U, 513U, 20001U}) {
      Trial trial{.collective = algorithm->collective,
                  .algorithm = std::string(algorithm->name),
                  .count = count,
                  .root = static_cast<std::uint32_t>(count % ranks)};
      all.push_back(trial);
      trial.in_place = true;
      trial.shared = true;
      all.push_back(trial);
      trial.in_place = false;
      trial.asynchronous = true;
      all.push_back(trial);
    }
  }
  for (const Collective collective : collectives()) {
    const bool blocks = has_block_per_rank(collective) || collective == Collective::alltoall;
    if (blocks) all.push_back({.collective = collective, .count = 1000, .counted = true});
  }
  for (const DType dtype : dtypes()) {
    for (const Op op : ops()) {
      if (applies(op, dtype)) all.push_back({.dtype = dtype, .op = op, .count = 1025});
    }
  }
  return all;
}

class Processes : public ::testing::TestWithParam<Way> {};

TEST_P(Processes, DoEveryAlgorithmRight) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 8U}) {
    EXPECT_EQ(run_processes(ranks, GetParam(),
                            [](Communicator& communicator) -> std::string {
                              for (const Trial& trial : trials(communicator.size())) {
                                const std::string fault = try_call(communicator, trial);
                                if (!fault.empty()) return words(trial) + ": " + fault;
                              }
                              return "";
                            }),
              "")
        << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Api, Processes, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "SharingMemory" : "OverTcp";
                         });

}  // namespace
}  // namespace tutti::test
