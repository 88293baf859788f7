#pragma once

#include <string>

#include "cli/bench/plot.hpp"
#include "cli/measure/report.hpp"

namespace tutti::cli {

/// Files for the results of `tutti bench`; empty: none. "-" is standard output.
struct BenchOutputs {
  std::string json;
  std::string csv;
  std::string plot;

  /// Fails before the measurement rather than after it.
  void require_writable() const;
  /// True if one of the files is standard output. The table then goes to standard error.
  [[nodiscard]] bool take_standard_output() const;

  template <class Report>
  void write(const Report& report) const {
    save(json, report.json());
    save(csv, report.csv());
    if (!plot.empty()) save(plot, plot_of(report));
  }

 private:
  static void save(const std::string& path, const std::string& text);
};

/// Prints one line, however many rows have a wide spread.
void warn_of_wide(const measure::Report& report);

}  // namespace tutti::cli
