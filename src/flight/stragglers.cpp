#include "flight/stragglers.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace tutti {
namespace {

// Too few calls are not significant.
constexpr std::uint64_t least_calls = 8;
// Smaller delays may come from the scheduler or the clock.
constexpr double least_late = 100e-6;
constexpr double least_share = 0.05;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// When each rank began a call, by witness; empty if one of them has no record of it.
std::vector<double> begins(std::span<const Witness> witnesses, std::uint64_t number) {
  std::vector<double> times;
  for (const Witness& witness : witnesses) {
    const FlightRecord* const record = witness.find(number);
    if (record == nullptr) return {};
    times.push_back(witness.begun(*record));
  }
  return times;
}

bool is_on_one_host(std::span<const Witness> witnesses) {
  return std::all_of(witnesses.begin(), witnesses.end(), [&](const Witness& witness) {
    return witness.dump().host == witnesses.front().dump().host;
  });
}

}  // namespace

std::optional<Straggler> find_straggler(std::span<const Witness> witnesses) {
  if (witnesses.size() < 2) return std::nullopt;
  std::map<std::size_t, std::vector<double>> late;  // By witness, when it was last.
  std::vector<double> medians;
  for (const auto& [number, record] : witnesses.front().collectives()) {
    const std::vector<double> times = begins(witnesses, number);
    if (times.empty()) continue;
    const auto last = std::max_element(times.begin(), times.end());
    // With two ranks the median is the earlier one.
    std::vector<double> others = times;
    others.erase(others.begin() + (last - times.begin()));
    const double middle = median(others);
    late[static_cast<std::size_t>(last - times.begin())].push_back(*last - middle);
    medians.push_back(middle);
  }
  if (medians.size() < least_calls) return std::nullopt;
  const auto most = std::max_element(late.begin(), late.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  const double interval =
      (medians.back() - medians.front()) / static_cast<double>(medians.size() - 1);
  Straggler straggler{.rank = witnesses[most->first].rank(),
                      .calls = medians.size(),
                      .last_in = most->second.size(),
                      .late = median(most->second),
                      .by_many_clocks = !is_on_one_host(witnesses)};
  straggler.share = interval > 0 ? straggler.late / interval : 0;
  const bool counts = 2 * straggler.last_in > straggler.calls && straggler.late >= least_late &&
                      straggler.share >= least_share;
  return counts ? std::optional(straggler) : std::nullopt;
}

}  // namespace tutti
