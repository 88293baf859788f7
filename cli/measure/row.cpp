#include "cli/measure/row.hpp"

#include <algorithm>

namespace tutti::measure {

std::optional<double> Row::share_of_limit() const {
  if (!limit) return std::nullopt;
  const Timing& timing = out_of_place.timing;
  return *limit /
         (has_root(what.collective) ? std::max(timing.mean, timing.median) : timing.median);
}

double Row::algorithm_bandwidth(const Finding& finding) const {
  const double seconds = finding.timing.median * 1e-6;
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

double Row::bus_bandwidth(const Finding& finding) const {
  return algorithm_bandwidth(finding) * bus_factor(what.collective, ranks);
}

}  // namespace tutti::measure
