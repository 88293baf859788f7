#include "select/profile.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>

#include <tutti/error.hpp>

#include "core/hash.hpp"
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

/// Mixes values into a hash, one after another.
class Digest {
 public:
  void add(std::uint64_t word) { hash_ = mixed(hash_, word); }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(std::string_view text) { add(hash_of(text)); }
  void add(const Reach& reach) { add(static_cast<std::uint64_t>(reach.pairs) * 2 + reach.crowded); }
  void add(const Model& model) {
    add(model.rates.size());
    for (const Rates& rates : model.rates) {
      add(rates.up_to);
      for (const double seconds : rates.seconds) add(seconds);
    }
  }
  void add(const Thresholds& thresholds) {
    add(thresholds.slice_bytes);
    for (const std::size_t bytes : thresholds.direct_from) add(bytes);
    for (const std::size_t bytes : thresholds.single_copy_from) add(bytes);
    add(thresholds.segment_bytes);
    add(thresholds.in_order_to);
    add(thresholds.part_bytes);
  }
  void add(const ReachProfile& profile) {
    add(profile.reach);
    add(std::uint64_t{profile.ranks});
    for (const double cost : {profile.link.alpha, profile.link.beta, profile.gamma}) add(cost);
    add(profile.thresholds);
    add(profile.model);
    add(profile.rooted_model);
  }
  void add(const Measurement& measurement) {
    add(measurement.algorithm);
    add(measurement.schedule ? measurement.schedule->hash() : 0);
    add(measurement.reach);
    add(std::uint64_t{measurement.ranks} << 32 | measurement.cores);
    add(measurement.points.size());
    for (const Measurement::Point& point : measurement.points) {
      add(point.bytes);
      add(point.seconds);
    }
  }

  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

}  // namespace

std::uint64_t Profile::digest() const {
  Digest digest;
  digest.add(machine);
  digest.add(date);
  digest.add(reaches.size());
  for (const ReachProfile& each : reaches) digest.add(each);
  for (const Measurement& each : measurements) digest.add(each);
  return digest.hash();
}

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
