#include "select/profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// The less, the more alike. What lies between two ranks tells more than whether they share cores,
/// and that more than how many there are.
double difference(const ReachProfile& known, const Reach& reach, std::uint32_t ranks) {
  const Reach& own = known.reach;
  const bool same_kind = in_memory(own) == in_memory(reach);
  const double way = own.pairs == reach.pairs ? 0 : same_kind ? 200 : 400;
  return way + (own.crowded == reach.crowded ? 0 : 100) +
         std::abs(std::log2(static_cast<double>(known.ranks) / std::max(ranks, 1U)));
}

}  // namespace

const ReachProfile& Profile::at(const Reach& reach, std::uint32_t ranks) const {
  return *std::min_element(reaches.begin(), reaches.end(),
                           [&](const ReachProfile& a, const ReachProfile& b) {
                             return difference(a, reach, ranks) < difference(b, reach, ranks);
                           });
}

void Profile::merge(const Profile& other) {
  machine = other.machine;
  date = other.date;
  for (const ReachProfile& theirs : other.reaches) {
    std::erase_if(reaches, [&](const ReachProfile& own) {
      return own.reach == theirs.reach && own.ranks == theirs.ranks;
    });
    reaches.push_back(theirs);
  }
  for (const Measurement& theirs : other.measurements) {
    std::erase_if(measurements, [&](const Measurement& own) {
      return own.algorithm == theirs.algorithm && own.reach == theirs.reach &&
             own.ranks == theirs.ranks;
    });
    measurements.push_back(theirs);
  }
}

void Profile::average(const Profile& other) {
  for (Measurement& own : measurements) {
    const auto theirs = std::find_if(other.measurements.begin(), other.measurements.end(),
                                     [&](const Measurement& each) {
                                       return each.algorithm == own.algorithm &&
                                              each.reach == own.reach && each.ranks == own.ranks;
                                     });
    if (theirs == other.measurements.end()) continue;
    for (Measurement::Point& point : own.points) {
      const auto same =
          std::find_if(theirs->points.begin(), theirs->points.end(),
                       [&](const Measurement::Point& each) { return each.bytes == point.bytes; });
      if (same != theirs->points.end()) point.seconds = std::sqrt(point.seconds * same->seconds);
    }
  }
}

void Profile::fit_models() {
  for (ReachProfile& each : reaches) {
    std::array<std::vector<Observation>, 2> seen;  // Without a root, and with.
    for (const Measurement& measurement : measurements) {
      if (measurement.reach != each.reach || measurement.ranks != each.ranks) continue;
      const Algorithm& used = algorithm(measurement.algorithm);
      const Problem problem{.ranks = measurement.ranks};
      if (!used.refusal(problem).empty()) continue;
      for (const Measurement::Point& point : measurement.points) {
        seen[has_root(used.collective) ? 1 : 0].push_back(
            {.effort = effort(used, problem, point.bytes, measurement.cores),
             .bytes = point.bytes,
             .seconds = point.seconds});
      }
    }
    if (!seen[0].empty()) each.model = fit(seen[0]);
    if (!seen[1].empty()) each.rooted_model = fit(seen[1]);
  }
}

}  // namespace tutti
