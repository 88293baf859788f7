#include <algorithm>
#include <array>
#include <iterator>

#include "select/profile.hpp"

namespace tutti {
namespace {

/// A row of the table. Rows with fewer times end with zeros.
struct Row {
  const char* algorithm;
  Reach reach;
  std::uint32_t ranks;
  std::uint32_t cores;
  std::array<Measurement::Point, 10> points;
};

constexpr Row rows[] = {
#include "select/built_in/times.inc"
};

Measurement measurement(const Row& row) {
  Measurement made{
      .algorithm = row.algorithm, .reach = row.reach, .ranks = row.ranks, .cores = row.cores};
  const auto* const end = std::ranges::find(row.points, 0.0, &Measurement::Point::seconds);
  made.points.assign(row.points.begin(), end);
  return made;
}

Profile make_profile() {
  Profile profile{
#include "select/built_in/origin.inc"
      .reaches = {
#include "select/built_in/reaches.inc"
      }};
  profile.measurements.reserve(std::size(rows));
  for (const Row& row : rows) profile.measurements.push_back(measurement(row));
  return profile;
}

}  // namespace

const Profile& built_in_profile() {
  static const Profile profile = make_profile();
  return profile;
}

}  // namespace tutti
