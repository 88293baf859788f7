#include <algorithm>
#include <array>
#include <iterator>

#include "select/profile.hpp"

namespace tutti {
namespace {

constexpr Reach process{.pairs = Pairs::process};
constexpr Reach crowded_process{.pairs = Pairs::process, .crowded = true};
constexpr Reach host{.pairs = Pairs::host};
constexpr Reach crowded_host{.pairs = Pairs::host, .crowded = true};
constexpr Reach loopback{.pairs = Pairs::loopback};
constexpr Reach crowded_loopback{.pairs = Pairs::loopback, .crowded = true};
constexpr Reach network{.pairs = Pairs::network};

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

/// Where a single copy by the kernel is faster than two copies, measured on 2 and on 16 cores of
/// Xeons with 2 to 16 ranks. It is slower for data that many ranks read at once, and for data that
/// is added up; on Neoverse-N1 for all data.
void set_single_copies(ReachProfile& profile) {
#if defined(__x86_64__)
  if (profile.reach.pairs != Pairs::host) return;
  const auto from = [&](Collective collective) -> std::size_t& {
    return profile.thresholds.single_copy_from[static_cast<std::size_t>(collective)];
  };
  from(Collective::alltoall) = std::size_t{1} << 17;
  if (profile.ranks > 2) {
    from(Collective::scatter) = std::size_t{1} << 19;
  } else {
    from(Collective::allgather) = std::size_t{1} << 18;
  }
#else
  (void)profile;
#endif
}

Profile make_profile() {
  Profile profile{
#include "select/built_in/origin.inc"
      .reaches = {
#include "select/built_in/reaches.inc"
      }};
  for (ReachProfile& each : profile.reaches) {
    const Thresholds usual = Thresholds::usual(each.reach);
    each.thresholds.segment_bytes = usual.segment_bytes;
    each.thresholds.in_order_to = usual.in_order_to;
    set_single_copies(each);
  }
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
