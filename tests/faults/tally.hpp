#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "faults/case_run.hpp"

namespace tutti::test {

/// What many cases gave, by kind of fault.
class Tally {
 public:
  /// As much of a result as is counted: plain memory.
  struct Entry {
    std::uint64_t number = 0;
    Fault fault = Fault::kill;
    bool failed = false;
    bool hung = false;
    double detection_s = 0;
    double recovery_s = 0;
  };

  void add(const Entry& entry);
  [[nodiscard]] std::uint64_t cases() const;
  [[nodiscard]] std::uint64_t failed() const;
  /// A table for people.
  [[nodiscard]] std::string text() const;

 private:
  struct Row {
    std::uint64_t cases = 0;
    std::uint64_t failed = 0;
    std::uint64_t hung = 0;
    double detection_sum = 0;
    double worst_detection = 0;
    std::uint64_t worst_detection_case = 0;
    double recovery_sum = 0;
    double worst_recovery = 0;
    std::uint64_t worst_recovery_case = 0;
  };
  std::array<Row, fault_kinds> rows_{};
};

}  // namespace tutti::test
