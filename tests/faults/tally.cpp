#include "faults/tally.hpp"

#include <cinttypes>
#include <cstdio>

namespace tutti::test {

void Tally::add(const Entry& entry) {
  Row& row = rows_[static_cast<std::size_t>(entry.fault)];
  ++row.cases;
  row.failed += entry.failed ? 1 : 0;
  row.hung += entry.hung ? 1 : 0;
  row.detection_sum += entry.detection_s;
  row.recovery_sum += entry.recovery_s;
  if (entry.detection_s > row.worst_detection) {
    row.worst_detection = entry.detection_s;
    row.worst_detection_case = entry.number;
  }
  if (entry.recovery_s > row.worst_recovery) {
    row.worst_recovery = entry.recovery_s;
    row.worst_recovery_case = entry.number;
  }
}

std::uint64_t Tally::cases() const {
  std::uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.cases;
  return sum;
}

std::uint64_t Tally::failed() const {
  std::uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.failed;
  return sum;
}

std::string Tally::text() const {
  std::string text =
      "fault      cases  failed  hung   noticed in: mean, worst (case)   "
      "recovered in: mean, worst (case)\n";
  for (std::uint32_t kind = 0; kind < fault_kinds; ++kind) {
    const Row& row = rows_[kind];
    if (row.cases == 0) continue;
    const double cases = static_cast<double>(row.cases);
    std::array<char, 200> line{};
    std::snprintf(line.data(), line.size(),
                  "%-9s %6" PRIu64 "  %6" PRIu64 "  %4" PRIu64 "   %8.3f s %8.3f s (%" PRIu64
                  ")   %8.3f s %8.3f s (%" PRIu64 ")\n",
                  name(static_cast<Fault>(kind)).c_str(), row.cases, row.failed, row.hung,
                  row.detection_sum / cases, row.worst_detection, row.worst_detection_case,
                  row.recovery_sum / cases, row.worst_recovery, row.worst_recovery_case);
    text += line.data();
  }
  return text;
}

}  // namespace tutti::test
