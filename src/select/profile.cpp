#include "select/profile.hpp"

#include <algorithm>
#include <array>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// The less, the more alike. What lies between two ranks tells more than whether they share cores.
int difference(const Reach& a, const Reach& b) {
  const bool same_kind = in_memory(a) == in_memory(b);
  return (a.pairs == b.pairs ? 0 : same_kind ? 2 : 4) + (a.crowded == b.crowded ? 0 : 1);
}

}  // namespace

const ReachProfile& Profile::at(const Reach& reach) const {
  return *std::min_element(reaches.begin(), reaches.end(),
                           [&](const ReachProfile& a, const ReachProfile& b) {
                             return difference(a.reach, reach) < difference(b.reach, reach);
                           });
}

void Profile::merge(const Profile& other) {
  machine = other.machine;
  date = other.date;
  for (const ReachProfile& theirs : other.reaches) {
    std::erase_if(reaches, [&](const ReachProfile& own) { return own.reach == theirs.reach; });
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

void Profile::fit_models() {
  for (ReachProfile& each : reaches) {
    std::vector<Observation> observations;
    for (const Measurement& measurement : measurements) {
      if (measurement.reach != each.reach) continue;
      const Algorithm& used = algorithm(measurement.algorithm);
      const Problem problem{.ranks = measurement.ranks};
      if (!used.refusal(problem).empty()) continue;
      for (const Measurement::Point& point : measurement.points) {
        observations.push_back({.effort = effort(used, problem, point.bytes, measurement.cores),
                                .bytes = point.bytes,
                                .seconds = point.seconds});
      }
    }
    if (!observations.empty()) each.model = fit(observations);
  }
}

}  // namespace tutti
