#include "cli/bench/run.hpp"

#include <optional>
#include <string>

#include "cli/bench/head.hpp"
#include "cli/bench/table.hpp"
#include "cli/console/progress.hpp"
#include "cli/measure/bench.hpp"

namespace tutti::cli {
namespace {

/// Prints the table of rank 0 while it grows.
class TablePrinter {
 public:
  explicit TablePrinter(const BenchPlan& plan) : plan_(plan) {}

  void begin(const measure::Report& report) {
    std::string text = bench_head(plan_, report.transport) + places_text(report.places);
    if (report.machine) text += machine_text(*report.machine);
    print(text + "#\n" + table_head());
    progress_.emplace("measuring", plan_.workload.cases.size());
  }

  void add(const measure::Row& row) {
    progress_->hide();
    print_method(row.what);
    print(table_row(row));
    progress_->advance();
  }

  void end(const measure::Report& report) {
    progress_.reset();
    print(table_foot(report) + table_details(report));
  }

 private:
  void print(const std::string& text) const {
    std::fputs(text.c_str(), plan_.table);
    std::fflush(plan_.table);
  }

  /// Begins a block of rows, if there are several algorithms.
  void print_method(const measure::Case& next) {
    const std::string name = (next.schedule ? "schedule " : "algorithm ") + next.method_name();
    if (heading_ == name) return;
    if (heading_ || plan_.workload.cases.back().method_name() != next.method_name()) {
      print("# " + name + "\n");
    }
    heading_ = name;
  }

  const BenchPlan& plan_;
  std::optional<Progress> progress_;
  std::optional<std::string> heading_;  // Of the present block of rows.
};

}  // namespace

measure::Report run_bench(Communicator& communicator, const BenchPlan& plan) {
  TablePrinter printer(plan);
  measure::Report report =
      measure::bench(communicator, plan.workload,
                     {.begin = [&](const measure::Report& begun) { printer.begin(begun); },
                      .row = [&](const measure::Row& row) { printer.add(row); }});
  if (communicator.rank() == 0) printer.end(report);
  return report;
}

}  // namespace tutti::cli
