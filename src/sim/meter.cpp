#include "sim/meter.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {

Meter::Meter(std::size_t links, std::uint32_t intervals)
    : counts_(links), most_(intervals), bytes_(links * intervals, 0) {}

void Meter::flow(std::span<const Crossing> route, double from, double to, double rate) {
  if (!over_time() || to <= from) return;
  widen(to);
  const std::size_t links = counts_.size();
  const auto first = static_cast<std::size_t>(from / width_);
  for (std::size_t i = first; i < most_; ++i) {
    const double begin = std::max(from, static_cast<double>(i) * width_);
    const double end = std::min(to, static_cast<double>(i + 1) * width_);
    if (end > begin) {
      for (const Crossing& each : route) {
        bytes_[i * links + each.link] += each.times * rate * (end - begin);
      }
    }
    if (end >= to) break;
  }
}

/// The total time is not known in advance: when the intervals are used up, each two are merged.
void Meter::widen(double to) {
  if (width_ == 0) width_ = to / most_;
  const std::size_t links = counts_.size();
  while (to > width_ * most_) {
    for (std::size_t i = 0; i < most_; ++i) {
      for (std::size_t l = 0; l < links; ++l) {
        const auto at = [&](std::size_t k) { return k < most_ ? bytes_[k * links + l] : 0; };
        bytes_[i * links + l] = at(2 * i) + at(2 * i + 1);
      }
    }
    width_ *= 2;
  }
}

std::vector<LinkUse> Meter::uses() const {
  std::vector<LinkUse> uses;
  uses.reserve(counts_.size());
  for (const Count& each : counts_) uses.push_back(each.use);
  return uses;
}

UtilisationSeries Meter::series(double end) const {
  if (!over_time() || width_ == 0) return {};
  const auto used = static_cast<std::size_t>(std::ceil(end / width_));
  UtilisationSeries series{.seconds = width_,
                           .rows = static_cast<std::uint32_t>(counts_.size()),
                           .bytes = bytes_,
                           .row_of = {}};
  series.bytes.resize(std::min<std::size_t>(used, most_) * counts_.size());
  return series;
}

}  // namespace tutti
