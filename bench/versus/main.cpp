// The program behind `tutti bench --vs`, which the command starts with its own words.
#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/standard_output.hpp"
#include "cli/launch/run_to_exit.hpp"
#include "cli/launch/watch.hpp"
#include "versus/versus.hpp"

namespace {

using namespace tutti;

int compare(const cli::Comparison& comparison) {
  const cli::VersusReport report = cli::run_versus(comparison);
  // An interrupted run keeps the rows that it has measured.
  if (!report.tutti.rows.empty()) {
    comparison.outputs.write(report);
    cli::warn_of_wide(report.tutti);
  }
  if (report.interrupted != 0) return cli::Watch::signal_code + report.interrupted;
  return report.wrong() == 0 ? cli::success : cli::violation_found;
}

}  // namespace

int main(int argc, char** argv) {
  cli::take_write_errors();
  const std::vector<std::string> words(argv + 1, argv + argc);
  cli::Arguments arguments("tutti", "Compares tutti with other libraries.", "");
  cli::add_bench(arguments.root(), words, compare);
  return cli::run_to_exit(arguments, words);
}
