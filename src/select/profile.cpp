#include "select/profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <tutti/error.hpp>

#include "select/typical.hpp"

namespace tutti {
namespace {

/// Dissimilarity: the connection of the ranks weighs most, then whether they share cores, then
/// their number.
double difference(const ReachProfile& known, const Reach& reach, std::uint32_t ranks) {
  const Reach& own = known.reach;
  const bool same_kind = in_memory(own) == in_memory(reach);
  const double way = own.pairs == reach.pairs ? 0 : same_kind ? 200 : 400;
  return way + (own.crowded == reach.crowded ? 0 : 100) +
         std::abs(std::log2(static_cast<double>(known.ranks) / std::max(ranks, 1U)));
}

/// The time of the same measurement in another profile.
std::optional<double> seconds_in(const Profile& profile, const Measurement& same,
                                 std::uint64_t bytes) {
  for (const Measurement& each : profile.measurements) {
    if (each.algorithm != same.algorithm || each.reach != same.reach || each.ranks != same.ranks) {
      continue;
    }
    for (const Measurement::Point& point : each.points) {
      if (point.bytes == bytes) return point.seconds;
    }
  }
  return std::nullopt;
}

}  // namespace

Method Measurement::method() const {
  return schedule ? Method(*schedule) : Method(tutti::algorithm(algorithm));
}

Problem Measurement::problem() const {
  return {.ranks = ranks, .root = schedule ? schedule->contract().root : Rank{0}};
}

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

void Profile::take_in(std::span<const Profile> others) {
  for (Measurement& own : measurements) {
    for (Measurement::Point& point : own.points) {
      std::vector<double> times{point.seconds};
      for (const Profile& other : others) {
        if (const auto theirs = seconds_in(other, own, point.bytes)) times.push_back(*theirs);
      }
      point.seconds = typical(std::move(times));
    }
  }
}

void Profile::fit_models() {
  for (ReachProfile& each : reaches) {
    std::array<std::vector<Observation>, 2> seen;  // Without a root; with a root.
    for (const Measurement& measurement : measurements) {
      if (measurement.reach != each.reach || measurement.ranks != each.ranks) continue;
      const Method used = measurement.method();
      const Problem problem = measurement.problem();
      if (!used.refusal(problem).empty()) continue;
      for (const Measurement::Point& point : measurement.points) {
        seen[has_root(used.collective()) ? 1 : 0].push_back(
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
