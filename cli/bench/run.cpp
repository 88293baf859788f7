#include "cli/bench/run.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>

#include <tutti/error.hpp>

#include "cli/bench/head.hpp"
#include "cli/bench/limit.hpp"
#include "cli/bench/table.hpp"
#include "cli/bench/verification.hpp"
#include "cli/console/progress.hpp"

namespace tutti::cli {
namespace {

bool on_one_host(const std::vector<BenchPlace>& places) {
  return std::all_of(places.begin(), places.end(),
                     [&](const BenchPlace& each) { return each.host == places.front().host; });
}

std::uint64_t largest_buffer(const BenchPlan& plan, std::uint32_t ranks) {
  std::uint64_t most = 0;
  for (const BenchCase& each : plan.cases) most = std::max(most, larger_bytes(each, ranks));
  return most;
}

/// One rank at work.
class Bench {
 public:
  Bench(Communicator& communicator, const BenchPlan& plan)
      : communicator_(communicator),
        aside_(communicator.duplicate()),
        plan_(plan),
        one_(largest_buffer(plan, communicator.size()), plan.memory),
        other_(largest_buffer(plan, communicator.size()), plan.memory) {
    report_.collective = plan.collective;
    report_.ranks = communicator.size();
    report_.ways = communicator.description();
    report_.shared_buffers = plan.memory == BenchMemory::Kind::shared;
  }

  BenchReport run() {
    meet();
    std::optional<Progress> progress;
    if (leads()) {
      print_head();
      progress.emplace("measuring", plan_.cases.size());
    }
    for (const BenchCase& each : plan_.cases) {
      report_.rows.push_back(measure(each));
      if (!leads()) continue;
      progress->hide();
      print_algorithm(each);
      print(table_row(report_.rows.back()));
      progress->advance();
    }
    progress.reset();
    if (leads()) print(table_foot(report_) + table_details(report_));
    return std::move(report_);
  }

 private:
  void print(const std::string& text) const {
    std::fputs(text.c_str(), plan_.table);
    std::fflush(plan_.table);
  }

  [[nodiscard]] bool leads() const { return communicator_.rank() == 0; }

  /// Rank 0 measures the machine, if asked to, while the others wait, and knows where they are.
  void meet() {
    const std::array<BenchPlace, 1> own{own_place()};
    places_.resize(communicator_.size());
    aside_.all_gather(own, places_);
    if (plan_.limit && leads() && report_.ranks > 1 && on_one_host(places_)) {
      const bool tcp = report_.ways.ends_with("TCP");
      report_.machine = measure_machine(report_.ranks, largest_buffer(plan_, report_.ranks), tcp);
    }
    aside_.barrier();
  }

  void print_head() const {
    print(bench_head(plan_, report_.ways) + places_text(places_));
    if (report_.machine) print(machine_text(*report_.machine));
    print("#\n" + table_head());
  }

  /// Between the blocks of several algorithms.
  void print_algorithm(const BenchCase& next) {
    const std::string name = (next.schedule ? "schedule " : "algorithm ") + next.method_name();
    if (heading_ == name) return;
    if (heading_ || plan_.cases.back().method_name() != next.method_name()) {
      print("# " + name + "\n");
    }
    heading_ = name;
  }

  [[nodiscard]] BenchRow measure(const BenchCase& what) {
    BenchRow row{.what = what,
                 .bytes = larger_bytes(what, report_.ranks),
                 .ranks = report_.ranks,
                 .algorithm = communicator_.algorithm_for(call(what, false)),
                 .out_of_place = finding(what, false)};
    if (what.collective != Collective::barrier) row.in_place = finding(what, true);
    if (report_.machine) {
      row.limit = 1e6 * limit_seconds(*report_.machine, what.collective, report_.ranks, row.bytes);
    }
    return row;
  }

  [[nodiscard]] Call call(const BenchCase& what, bool in_place) const {
    return call_of(what, {.one = one_.data(), .other = other_.data()}, in_place,
                   communicator_.rank(), report_.ranks);
  }

  [[nodiscard]] BenchFinding finding(const BenchCase& what, bool in_place) {
    const Call made = call(what, in_place);
    BenchFinding found;
    if (plan_.check) found.wrong = wrong(what, made);
    // Zeros stay zeros however often they are added up in place; and no page is touched first while
    // the clock runs.
    const std::uint64_t bytes = larger_bytes(what, report_.ranks);
    std::memset(one_.data(), 0, bytes);
    std::memset(other_.data(), 0, bytes);
    found.timing = time_call(aside_, plan_.pace, [&] { communicator_.run(made); });
    return found;
  }

  /// Over all ranks.
  [[nodiscard]] std::uint64_t wrong(const BenchCase& what, const Call& made) {
    const BenchVerification verification(what, communicator_.rank(), report_.ranks, ++seed_);
    verification.prepare(made);
    communicator_.run(made);
    std::uint64_t count = verification.count_wrong(made);
    aside_.all_reduce(std::span(&count, 1));
    return count;
  }

  Communicator& communicator_;
  Communicator aside_;  // For the measuring itself.
  const BenchPlan& plan_;
  BenchMemory one_;
  BenchMemory other_;
  std::vector<BenchPlace> places_;
  BenchReport report_;
  std::optional<std::string> heading_;  // Of the block that is being printed.
  std::uint64_t seed_ = 0;
};

}  // namespace

BenchReport run_bench(Communicator& communicator, const BenchPlan& plan) {
  return Bench(communicator, plan).run();
}

}  // namespace tutti::cli
