#include "bench_table.hpp"

#include <array>
#include <cstdio>

#include "text.hpp"

namespace tutti::cli {
namespace {

constexpr std::array<std::size_t, 5> case_widths{12, 14, 10, 8, 8};
constexpr std::array<std::size_t, 4> finding_widths{10, 8, 8, 8};
constexpr std::size_t limit_width = 8;

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

template <std::size_t n>
std::string columns(const std::array<std::size_t, n>& widths,
                    const std::array<std::string, n>& cells) {
  std::string line;
  for (std::size_t i = 0; i < n; ++i) line += pad_left(" " + cells[i], widths[i]);
  return line;
}

/// The first column makes room for the '#'.
std::string comment(std::string line) {
  line[0] = '#';
  return line + "\n";
}

std::string microseconds(double time) {
  constexpr double many = 10'000;
  return fixed(time, time < many ? 2 : 0);
}

std::string finding_cells(const BenchRow& row, const BenchFinding& finding) {
  constexpr double giga = 1e9;
  return columns<4>(finding_widths, {microseconds(finding.timing.median),
                                     fixed(row.algorithm_bandwidth(finding) / giga, 2),
                                     fixed(row.bus_bandwidth(finding) / giga, 2),
                                     finding.wrong ? std::to_string(*finding.wrong) : "N/A"});
}

}  // namespace

std::string table_head() {
  const std::size_t case_width = width(columns<5>(case_widths, {}));
  const std::size_t finding_width = width(columns<4>(finding_widths, {}));
  const std::string units = columns<4>(finding_widths, {"(us)", "(GB/s)", "(GB/s)", ""});
  const std::string names = columns<4>(finding_widths, {"time", "algbw", "busbw", "#wrong"});
  const auto centred = [&](const std::string& text) {
    const std::size_t before = (finding_width - text.size()) / 2;
    return pad_right(std::string(before, ' ') + text, finding_width);
  };
  return comment(std::string(case_width, ' ') + centred("out-of-place") + centred("in-place")) +
         comment(columns<5>(case_widths, {"size", "count", "type", "redop", "root"}) + names +
                 names + pad_left("%limit", limit_width) + "  algorithm") +
         comment(columns<5>(case_widths, {"(B)", "(elements)", "", "", ""}) + units + units);
}

std::string table_row(const BenchRow& row) {
  const BenchCase& what = row.what;
  std::string line =
      columns<5>(case_widths, {std::to_string(row.bytes), std::to_string(what.count),
                               std::string(nccl_name(what.dtype)), std::string(op_name(what)),
                               has_root(what.collective) ? std::to_string(what.root) : "-1"});
  line += finding_cells(row, row.out_of_place);
  line += row.in_place ? finding_cells(row, *row.in_place)
                       : columns<4>(finding_widths, {"N/A", "N/A", "N/A", "N/A"});
  const std::string share =
      row.limit ? fixed(100 * *row.limit / row.out_of_place.timing.median, 1) : "-";
  return line + pad_left(share, limit_width) + "  " + row.algorithm + "\n";
}

std::string table_foot(const BenchReport& report) {
  constexpr double giga = 1e9;
  const std::uint64_t wrong = report.wrong();
  return "# Out of bounds values : " + std::to_string(wrong) + (wrong == 0 ? " OK" : " FAILED") +
         "\n# Avg bus bandwidth    : " + fixed(report.average_bus_bandwidth() / giga, 4) + "\n";
}

}  // namespace tutti::cli
