#pragma once

#include <string>
#include <vector>

namespace tutti::render {

/// What an axis counts, which decides where its ticks stand and how they are written.
enum class Measure { bytes, seconds, bytes_per_second, ratio };

/// "8 B", "1 KiB"; "20 µs"; "1.5 GB/s"; "0.25". At most three digits that count.
[[nodiscard]] std::string in_words(Measure measure, double amount);

/// Round numbers from 0 up to `high` at equal distances, at most `most` of them.
/// Requires: most ≥ 2.
[[nodiscard]] std::vector<double> linear_ticks(double high, std::size_t most);

/// A logarithmic axis.
class LogScale {
 public:
  /// An axis on which all of `low` … `high` lies, which begins and ends at ticks.
  /// Requires: 0 < low ≤ high.
  LogScale(Measure measure, double low, double high);

  /// 0 at the low end, 1 at the high end.
  [[nodiscard]] double place(double amount) const;

  /// The finest ticks of which there are no more than `most`, both ends of what they mark included.
  /// Bytes: powers of two; others: 1, 2, 5, 10 …, or powers of ten.
  [[nodiscard]] std::vector<double> ticks(std::size_t most) const;

 private:
  Measure measure_;
  double low_;
  double high_;
};

}  // namespace tutti::render
