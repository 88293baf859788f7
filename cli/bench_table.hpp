#pragma once

#include <string>

#include "bench_report.hpp"

/// The table of `tutti bench`, line by line, as nccl-tests prints it.
namespace tutti::cli {

/// The three lines above the rows.
[[nodiscard]] std::string table_head();
/// Two columns more than nccl-tests has: how near the time out of place is to the limit, and the
/// algorithm.
[[nodiscard]] std::string table_row(const BenchRow& row);
/// Whether all is right, and the average.
[[nodiscard]] std::string table_foot(const BenchReport& report);

}  // namespace tutti::cli
