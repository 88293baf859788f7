#include "cli/bench/outputs.hpp"

#include <cstdio>
#include <fstream>

#include "cli/console/text_file.hpp"
#include "core/quantity.hpp"
#include "core/reject.hpp"

namespace tutti::cli {

void BenchOutputs::save(const std::string& path, const std::string& text) {
  if (!path.empty()) write_text(path, text);
}

void BenchOutputs::require_writable() const {
  for (const std::string& path : {json, csv, plot}) {
    if (!path.empty() && path != "-" && !std::ofstream(path, std::ios::app)) {
      reject("cannot write to '" + path + "'; name a file in a folder that exists");
    }
  }
}

bool BenchOutputs::take_standard_output() const {
  int count = 0;
  for (const std::string& path : {json, csv, plot}) count += path == "-" ? 1 : 0;
  if (count > 1) reject("only one of --json, --csv and --plot can be - (standard output)");
  return count == 1;
}

void warn_of_wide(const measure::Report& report) {
  std::size_t wide = 0;
  std::string first;
  for (const measure::Row& row : report.rows) {
    const bool in_place = row.in_place && row.in_place->timing.is_wide();
    if (!in_place && !row.out_of_place.timing.is_wide()) continue;
    if (++wide == 1) first = format_bytes(row.bytes);
  }
  if (wide == 0) return;
  std::fprintf(stderr,
               "tutti bench: in %zu of %zu rows, first at %s, one time in ten is above twice the "
               "median or below half of it: too wide a spread for conclusions. The machine is "
               "busy, or there are more ranks than cores.\n",
               wide, report.rows.size(), first.c_str());
}

}  // namespace tutti::cli
