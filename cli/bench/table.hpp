#pragma once

#include <optional>
#include <string>

#include "cli/bench/report.hpp"

/// The table of `tutti bench`, line by line, column by column as nccl-tests prints it: there are
/// programs that read such tables, some of them from the end of the line. What nccl-tests does not
/// have is in lines that begin with '#' and come after it.
namespace tutti::cli {

/// The three lines above the rows.
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_row(const BenchRow& row);
/// Whether all is right, and the average.
[[nodiscard]] std::string table_foot(const BenchReport& report);
/// What stands behind each row, out of place: the algorithm, how many calls, how far apart they
/// are, and how near they are to the limit of the machine.
[[nodiscard]] std::string table_details(const BenchReport& report);

/// The columns of a row that say what is measured, and those of one finding; none are all N/A.
[[nodiscard]] std::string case_columns(const BenchRow& row);
[[nodiscard]] std::string finding_columns(const BenchRow& row,
                                          const std::optional<BenchFinding>& finding);

}  // namespace tutti::cli
