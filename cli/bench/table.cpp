#include "cli/bench/table.hpp"

#include <array>
#include <cstdio>

#include "cli/bench/dtype_name.hpp"
#include "cli/console/text.hpp"
#include "core/columns.hpp"

namespace tutti::cli {
namespace {

constexpr double giga = 1e9;

/// Without the two spaces before each column but the first.
constexpr std::array<std::size_t, 5> case_widths{12, 12, 8, 6, 6};
constexpr std::array<std::size_t, 4> finding_widths{7, 6, 6, 6};
constexpr std::array<std::size_t, 7> detail_widths{12, 8, 7, 7, 7, 7, 6};

template <std::size_t n>
std::string columns(const std::array<std::size_t, n>& widths,
                    const std::array<std::string, n>& cells) {
  std::string line;
  for (std::size_t i = 0; i < n; ++i) line += "  " + pad_left(cells[i], widths[i]);
  return line;
}

/// The first columns of a line have no spaces before them.
template <std::size_t n>
std::string first_columns(const std::array<std::size_t, n>& widths,
                          const std::array<std::string, n>& cells) {
  return columns(widths, cells).substr(2);
}

/// Puts a '#' into the first column, which is blank.
std::string comment(std::string line) {
  line[0] = '#';
  return line + "\n";
}

std::string detail(const measure::Row& row) {
  const measure::Timing& timing = row.out_of_place.timing;
  const auto time = [](double value) { return fitted(value, 7); };
  const std::optional<double> of_limit = row.share_of_limit();
  const std::string share = of_limit ? fitted(100 * *of_limit, 6) : "-";
  return comment(
      first_columns<7>(detail_widths, {std::to_string(row.bytes), std::to_string(timing.iterations),
                                       time(timing.p10), time(timing.median), time(timing.p90),
                                       row.limit ? time(*row.limit) : "-", share}) +
      (timing.is_wide() ? " !" : "  ") + " " + row.algorithm);
}

}  // namespace

std::string case_columns(const measure::Row& row) {
  const measure::Case& what = row.what;
  return first_columns<5>(
      case_widths,
      {std::to_string(row.bytes), std::to_string(what.count), std::string(nccl_name(what.dtype)),
       std::string(op_name(what)), has_root(what.collective) ? std::to_string(what.root) : "-1"});
}

std::string finding_columns(const measure::Row& row,
                            const std::optional<measure::Finding>& finding) {
  if (!finding) return columns<4>(finding_widths, {"N/A", "N/A", "N/A", "N/A"});
  return columns<4>(finding_widths, {fitted(finding->timing.median, finding_widths[0]),
                                     fitted(row.algorithm_bandwidth(*finding) / giga, 6),
                                     fitted(row.bus_bandwidth(*finding) / giga, 6),
                                     finding->wrong ? std::to_string(*finding->wrong) : "N/A"});
}

std::string table_head() {
  const std::string units = columns<4>(finding_widths, {"(us)", "(GB/s)", "(GB/s)", ""});
  const std::string names = columns<4>(finding_widths, {"time", "algbw", "busbw", "#wrong"});
  return comment(first_columns<5>(case_widths, {}) +
                 "           out-of-place                       in-place          ") +
         comment(first_columns<5>(case_widths, {"size", "count", "type", "redop", "root"}) + names +
                 names) +
         comment(first_columns<5>(case_widths, {"(B)", "(elements)", "", "", ""}) + units + units);
}

std::string table_row(const measure::Row& row) {
  return case_columns(row) + finding_columns(row, row.out_of_place) +
         finding_columns(row, row.in_place) + "\n";
}

std::string table_foot(const measure::Report& report) {
  const std::uint64_t wrong = report.wrong();
  std::array<char, 64> average{};
  std::snprintf(average.data(), average.size(), "%g", report.average_bus_bandwidth() / giga);
  return "# Out of bounds values : " + std::to_string(wrong) + (wrong == 0 ? " OK" : " FAILED") +
         "\n# Avg bus bandwidth    : " + average.data() +
         "\n#\n# Collective test concluded: " + std::string(name(report.collective)) + "\n";
}

std::string table_details(const measure::Report& report) {
  std::string text =
      "#\n# Out of place, in us: 10th percentile, median, 90th, the machine's limit, and its share "
      "in the median in %\n" +
      comment(first_columns<7>(detail_widths,
                               {"size", "calls", "p10", "p50", "p90", "limit", "%limit"}) +
              "   algorithm");
  for (const measure::Row& row : report.rows) text += detail(row);
  return text;
}

}  // namespace tutti::cli
