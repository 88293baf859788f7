#pragma once

#include <optional>
#include <string>

#include "cli/measure/report.hpp"

/// The table of `tutti bench`, with the columns of nccl-tests: programs read such tables, some of
/// them from the end of the line. Figures that nccl-tests does not have come after the table, in
/// lines that begin with '#'.
namespace tutti::cli {

/// The three lines above the rows.
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_row(const measure::Row& row);
/// Whether all results are right, and the average bus bandwidth.
[[nodiscard]] std::string table_foot(const measure::Report& report);
/// More about each row, out of place: the algorithm, the number of calls, the spread of their times
/// and the share of the machine's limit.
[[nodiscard]] std::string table_details(const measure::Report& report);

/// The columns of a row that describe the case.
[[nodiscard]] std::string case_columns(const measure::Row& row);
/// The columns of one finding; N/A if there is none.
[[nodiscard]] std::string finding_columns(const measure::Row& row,
                                          const std::optional<measure::Finding>& finding);

}  // namespace tutti::cli
