#pragma once

#include <string>
#include <vector>

namespace tutti::render {

/// The quantity on an axis. It determines the position and the format of the ticks.
enum class Measure { bytes, seconds, bytes_per_second, ratio };

/// "8 B", "1 KiB"; "20 µs"; "1.5 GB/s"; "0.25". At most three significant digits.
[[nodiscard]] std::string in_words(Measure measure, double amount);

/// Round numbers from 0 to `high` at equal distances, at most `most` of them.
/// Requires: most ≥ 2.
[[nodiscard]] std::vector<double> linear_ticks(double high, std::size_t most);

/// A logarithmic axis.
class LogScale {
 public:
  /// An axis that contains `low` … `high` and begins and ends at ticks.
  /// Requires: 0 < low ≤ high.
  LogScale(Measure measure, double low, double high);

  /// 0 at the low end, 1 at the high end.
  [[nodiscard]] double place(double amount) const;

  /// The finest set of at most `most` ticks, including both ends.
  /// Bytes: powers of two; others: 1, 2, 5, 10 …, or powers of ten.
  [[nodiscard]] std::vector<double> ticks(std::size_t most) const;

 private:
  Measure measure_;
  double low_;
  double high_;
};

}  // namespace tutti::render
