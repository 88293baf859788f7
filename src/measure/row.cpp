#include "measure/row.hpp"

namespace tutti::measure {

double Row::algorithm_bandwidth(const Finding& finding) const {
  const double seconds = finding.timing.median * 1e-6;
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

double Row::bus_bandwidth(const Finding& finding) const {
  return algorithm_bandwidth(finding) * bus_factor(what.collective, ranks);
}

}  // namespace tutti::measure
