#include "faults/tally.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace tutti::test {

void Tally::add(const Entry& entry) {
  Row& row = rows_[entry.label.data()];
  row.failed += entry.failed ? 1 : 0;
  row.hung += entry.hung ? 1 : 0;
  row.detections.emplace_back(entry.detection_s, entry.number);
  row.recoveries.emplace_back(entry.recovery_s, entry.number);
}

std::uint64_t Tally::cases() const {
  std::uint64_t sum = 0;
  for (const auto& [label, row] : rows_) sum += row.detections.size();
  return sum;
}

std::uint64_t Tally::failed() const {
  std::uint64_t sum = 0;
  for (const auto& [label, row] : rows_) sum += row.failed;
  return sum;
}

std::string Tally::text() const {
  std::string text =
      "case                   cases  failed  hung   noticed in: median, worst (case)   "
      "recovered in: median, worst (case)\n";
  for (const auto& [label, row] : rows_) {
    const auto sorted = [](std::vector<Time> times) {
      std::sort(times.begin(), times.end());
      return times;
    };
    const std::vector<Time> noticed = sorted(row.detections);
    const std::vector<Time> recovered = sorted(row.recoveries);
    std::array<char, 200> line{};
    std::snprintf(line.data(), line.size(),
                  "%-20s %7zu  %6" PRIu64 "  %4" PRIu64 "   %8.3f s %8.3f s (%" PRIu64
                  ")   %8.3f s %8.3f s (%" PRIu64 ")\n",
                  label.c_str(), noticed.size(), row.failed, row.hung,
                  noticed[noticed.size() / 2].first, noticed.back().first, noticed.back().second,
                  recovered[recovered.size() / 2].first, recovered.back().first,
                  recovered.back().second);
    text += line.data();
  }
  return text;
}

}  // namespace tutti::test
