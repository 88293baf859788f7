#include <cstring>

#include <gtest/gtest.h>

#include <tutti/schedule/schedule_traits.hpp>
#include <tutti/schedule/verify.hpp>

#include "support/errors.hpp"
#include "support/problems.hpp"

namespace tutti::test {
namespace {

TEST(Parameters, AreReadOnceFromTheName) {
  const Algorithm& eight = algorithm("allreduce/recursive_multiplying:k=8");
  EXPECT_EQ(eight.values[0], 8U);
  EXPECT_EQ(eight.name, "allreduce/recursive_multiplying:k=8");
  EXPECT_EQ(eight.row_name(), "allreduce/recursive_multiplying");
  EXPECT_EQ(&algorithm("allreduce/recursive_multiplying:k=8"), &eight);
  EXPECT_EQ(std::strlen(eight.name.data()), eight.name.size());
  EXPECT_EQ(eight.schedule({.ranks = 8}).name, eight.name);
  EXPECT_EQ(eight.schedule({.ranks = 8}).rounds(), 1U);
}

/// All ranks must call the same algorithm by the same name.
TEST(Parameters, UsualValueIsLeftOutOfTheName) {
  const Algorithm& row = algorithm("allreduce/recursive_multiplying");
  EXPECT_EQ(&algorithm("allreduce/recursive_multiplying:k=4"), &row);
  EXPECT_EQ(&algorithm("allreduce/recursive_multiplying:k=004"), &row);
}

TEST(Parameters, ChangeTheNumberOfChunks) {
  EXPECT_EQ(algorithm("broadcast/chain").contract({.ranks = 4}).chunks, 1U);
  EXPECT_EQ(algorithm("broadcast/chain:segments=7").contract({.ranks = 4}).chunks, 7U);
  EXPECT_EQ(algorithm("broadcast/chain:segments=7").chunk_count({.ranks = 4}), 7U);
}

TEST(Parameters, InvalidValuesAreRefusedWithASentence) {
  const auto expect_refusal = [](const std::string& name, const std::string& says) {
    expect_error([&] { (void)algorithm(name); }, ErrorCode::invalid_argument, says);
  };
  const std::string row = "allreduce/recursive_multiplying";
  expect_refusal(row + ":k=1", "'k=1' is not possible for " + row +
                                   ": it has k from 2 to 1024 (usually 4); write, for example, " +
                                   row + ":k=3");
  for (const char* const value :
       {"k=", "k=1025", "k=-2", "k=4x", "k=99999999999", "k= 4", "k=+4"}) {
    expect_refusal(row + ":" + value, "is not possible");
  }
  for (const char* const word : {"", "k", "radix=4", "=4", "segments=4"}) {
    expect_refusal(row + ":" + word, "'" + std::string(word) + "' is no parameter of " + row);
  }
  expect_refusal("allreduce/ring:k=4", "it has no parameters");
  expect_refusal("allreduce/rng:k=4", "Did you mean 'allreduce/ring'?");
}

TEST(Parameters, AreSound) {
  for (const Algorithm& each : algorithms()) {
    ASSERT_LE(each.parameters.size(), each.values.size()) << each.name;
    for (std::size_t i = 0; i < each.parameters.size(); ++i) {
      const AlgorithmParameter& parameter = each.parameters[i];
      EXPECT_EQ(each.values[i], parameter.usual) << each.name;
      EXPECT_FALSE(parameter.summary.empty()) << each.name;
      for (const std::uint32_t value : parameter.tried) {
        EXPECT_GE(value, parameter.least) << each.name;
        EXPECT_LE(value, parameter.most) << each.name;
        EXPECT_NE(value, parameter.usual) << each.name;
      }
    }
  }
}

TEST(Parameters, VariantsHaveTheValuesToTry) {
  std::vector<std::string_view> names;
  for (const Algorithm* each : variants(algorithm("broadcast/knomial")))
    names.push_back(each->name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"broadcast/knomial", "broadcast/knomial:k=3",
                                                  "broadcast/knomial:k=8"}));
  EXPECT_EQ(variants(algorithm("allreduce/ring")).size(), 1U);
}

/// Each row with parameters, with other values than usual: those to try, and the extreme ones.
std::vector<std::string> adjusted_names() {
  std::vector<std::string> names;
  for (const Algorithm& each : algorithms()) {
    for (const AlgorithmParameter& parameter : each.parameters) {
      std::vector<std::uint32_t> values(parameter.tried.begin(), parameter.tried.end());
      values.push_back(parameter.least);
      values.push_back(std::min(parameter.most, 100U));
      for (const std::uint32_t value : values) {
        if (value == parameter.usual) continue;
        names.push_back(std::string(each.name) + ":" + std::string(parameter.name) + "=" +
                        std::to_string(value));
      }
    }
  }
  return names;
}

TEST(Parameters, EveryValueIsProved) {
  for (const std::string& name : adjusted_names()) {
    const Algorithm& adjusted = algorithm(name);
    for (const std::uint32_t p : {1U, 2U, 3U, 5U, 6U, 8U, 9U, 12U, 17U}) {
      for (const Problem& problem : problems(adjusted, p)) {
        if (problem.root > 1) continue;
        const Verification verdict = verify(adjusted.schedule(problem));
        ASSERT_TRUE(verdict.ok()) << name << " " << words(problem) << ": "
                                  << verdict.violations.front().message;
      }
    }
  }
}

/// The traits of a row hold for all values.
TEST(Parameters, TraitsHoldForEveryValue) {
  for (const std::string& name : adjusted_names()) {
    const Algorithm& adjusted = algorithm(name);
    for (const Problem& problem : problems(adjusted, 6)) {
      const ScheduleTraits found = traits_of(adjusted.schedule(problem));
      EXPECT_LE(found.keeps_data, adjusted.traits().keeps_data) << name << " " << words(problem);
      EXPECT_LE(found.joins_chunks, adjusted.traits().joins_chunks)
          << name << " " << words(problem);
      EXPECT_LE(found.repeats_pairs, adjusted.traits().repeats_pairs)
          << name << " " << words(problem);
      EXPECT_LE(found.needs_counts, adjusted.traits().needs_counts)
          << name << " " << words(problem);
      EXPECT_LE(found.copies, adjusted.traits().copies) << name << " " << words(problem);
    }
  }
}

}  // namespace
}  // namespace tutti::test
