#include "cli/measure/deciding.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "select/selector.hpp"

namespace tutti::measure {
namespace {

const Calls few{.ranks = {2, 4, 6, 8, 64}, .cores = {2}};

/// Every allgather was measured: the ring is good for long data, mesh for short, and the others are
/// a little slower than both. Only among 8 ranks bruck is the fastest for short data.
Profile measured_profile() {
  Rates rates;
  rates.seconds[Effort::rounds] = 1e-6;
  rates.seconds[Effort::bytes] = 1e-9;
  Profile profile{.reaches = {{.model = {.rates = {rates}}, .rooted_model = {.rates = {rates}}}}};
  const auto measure = [&](std::string_view algorithm, std::uint32_t ranks, double less,
                           double more) {
    profile.measurements.push_back(
        {.algorithm = std::string(algorithm),
         .ranks = ranks,
         .cores = ranks,
         .points = {{.bytes = 8, .seconds = less}, {.bytes = 1 << 20, .seconds = more}}});
  };
  for (const std::uint32_t ranks : {4, 8}) {
    for (const Algorithm& each : algorithms(Collective::allgather)) {
      const bool is_best = each.name == "allgather/bruck" && ranks == 8;
      if (each.name == "allgather/ring") {
        measure(each.name, ranks, 4e-6, 1e-3);
      } else if (!each.needs_shape()) {
        measure(each.name, ranks,
                is_best                         ? 1e-6
                : each.name == "allgather/mesh" ? 2e-6
                                                : 3e-6,
                2e-3);
      }
    }
  }
  return profile;
}

bool has(const Profile& profile, std::string_view algorithm, std::uint32_t ranks) {
  return std::ranges::any_of(profile.measurements, [&](const Measurement& each) {
    return each.algorithm == algorithm && each.ranks == ranks;
  });
}

TEST(Deciding, KeepsWhatIsChosenAndChangesNoChoice) {
  const Profile all = measured_profile();
  const Profile reduced = deciding(all, few);
  EXPECT_LT(reduced.measurements.size(), all.measurements.size());
  EXPECT_EQ(reduced.reaches, all.reaches);
  EXPECT_TRUE(has(reduced, "allgather/bruck", 8));
  EXPECT_TRUE(has(reduced, "allgather/ring", 8));
  EXPECT_TRUE(has(reduced, "allgather/mesh", 4));
  EXPECT_EQ(difference_of_choices(all, reduced, few), "");
  EXPECT_EQ(deciding(reduced, few), reduced) << "nothing is left to leave out";
}

/// Otherwise those that are left out would count as candidates that nobody could measure yet.
TEST(Deciding, KeepsHalfOfTheAlgorithms) {
  const Profile reduced = deciding(measured_profile(), few);
  const auto rows = algorithms(Collective::allgather);
  const auto measured = std::ranges::count_if(rows, [&](const Algorithm& each) {
    return has(reduced, each.name, 4) || has(reduced, each.name, 8);
  });
  const auto measurable =
      std::ranges::count_if(rows, [](const Algorithm& each) { return !each.needs_shape(); });
  EXPECT_GE(2 * measured, measurable);
  EXPECT_LT(measured, measurable);
}

/// The time among six ranks is interpolated between those of four and eight.
TEST(Deciding, NamesACallThatDiffers) {
  const Profile all = measured_profile();
  Profile less = all;
  std::erase_if(less.measurements,
                [](const Measurement& each) { return each.algorithm == "allgather/bruck"; });
  const std::string difference = difference_of_choices(all, less, few);
  EXPECT_NE(difference.find("between 6 ranks"), std::string::npos) << difference;
  EXPECT_NE(difference.find("allgather/bruck or "), std::string::npos) << difference;
}

}  // namespace
}  // namespace tutti::measure
