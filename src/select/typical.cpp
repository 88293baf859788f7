#include "select/typical.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {

double typical(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const double most = 2 * times[(times.size() - 1) / 2];
  const auto end = std::upper_bound(times.begin(), times.end(), most);
  return std::accumulate(times.begin(), end, 0.0) / static_cast<double>(end - times.begin());
}

}  // namespace tutti
