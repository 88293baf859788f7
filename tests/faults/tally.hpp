#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti::test {

/// The results of many cases, by kind of case.
class Tally {
 public:
  /// The counted part of a result, as plain memory.
  struct Entry {
    std::uint64_t number = 0;
    std::array<char, 32> label{};  ///< The row of the table.
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
  /// Seconds, and the number of the case.
  using Time = std::pair<double, std::uint64_t>;
  struct Row {
    std::uint64_t failed = 0;
    std::uint64_t hung = 0;
    std::vector<Time> detections{};
    std::vector<Time> recoveries{};
  };
  std::map<std::string, Row> rows_;
};

}  // namespace tutti::test
