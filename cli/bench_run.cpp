#include "bench_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "bench_limit.hpp"
#include "bench_table.hpp"
#include "bench_verification.hpp"
#include "core/quantity.hpp"
#include "progress.hpp"

namespace tutti::cli {
namespace {

/// Where a rank is, for the head of the table.
struct Place {
  std::array<char, 64> host{};
  int pid = 0;
};

Place own_place() {
  Place place{.pid = ::getpid()};
  if (::gethostname(place.host.data(), place.host.size() - 1) != 0) place.host[0] = '?';
  return place;
}

bool on_one_host(const std::vector<Place>& places) {
  return std::all_of(places.begin(), places.end(),
                     [&](const Place& each) { return each.host == places.front().host; });
}

std::uint64_t largest_buffer(const BenchPlan& plan, std::uint32_t ranks) {
  std::uint64_t most = 0;
  for (const BenchCase& each : plan.cases) most = std::max(most, larger_bytes(each, ranks));
  return most;
}

std::string count_text(const std::optional<std::size_t>& count) {
  return count ? std::to_string(*count) : "auto";
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string gigabytes(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1fGB/s", rate / 1e9);
  return text.data();
}

std::string describe(const BenchMachine& machine) {
  std::string text = "# Limit of " + std::to_string(machine.cores) +
                     (machine.cores == 1 ? " core" : " cores") + ": flag " +
                     format_seconds(machine.flag);
  if (machine.loopback) {
    text += ", loopback " + gigabytes(machine.loopback->rate) + " and " +
            format_seconds(machine.loopback->latency);
  }
  for (const BenchMachine::Memory& each : machine.memory) {
    text += "\n#  " + format_bytes(each.bytes) + ": copy " + gigabytes(each.copy) + ", sum " +
            gigabytes(each.sum);
  }
  return text + "\n";
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
      print(table_row(report_.rows.back()));
      progress->advance();
    }
    progress.reset();
    if (leads()) print(table_foot(report_));
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool leads() const { return communicator_.rank() == 0; }

  /// Rank 0 measures the machine while the others wait, and knows where they are.
  void meet() {
    const std::array<Place, 1> own{own_place()};
    places_.resize(communicator_.size());
    aside_.all_gather(own, places_);
    if (leads() && report_.ranks > 1 && on_one_host(places_)) {
      const bool tcp = report_.ways.ends_with("TCP");
      report_.machine = measure_machine(report_.ranks, largest_buffer(plan_, report_.ranks), tcp);
    }
    aside_.barrier();
  }

  void print_head() const {
    print("# tutti " + std::string(version) + " " + std::string(name(plan_.collective)) + ": " +
          report_.ways + ", buffers " + (report_.shared_buffers ? "shared" : "private") + "\n");
    print("# minBytes " + std::to_string(plan_.least) + " maxBytes " + std::to_string(plan_.most) +
          " step: " + plan_.step + " warmup iters: " + count_text(plan_.pace.warm_ups) +
          " iters: " + count_text(plan_.pace.iterations) +
          " validation: " + (plan_.check ? "1" : "0") + "\n");
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      print("#  Rank " + std::to_string(rank) + " Pid " + std::to_string(places_[rank].pid) +
            " on " + places_[rank].host.data() + "\n");
    }
    if (report_.machine) print(describe(*report_.machine));
    print("#\n" + table_head());
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
  std::vector<Place> places_;
  BenchReport report_;
  std::uint64_t seed_ = 0;
};

}  // namespace

BenchReport run_bench(Communicator& communicator, const BenchPlan& plan) {
  return Bench(communicator, plan).run();
}

}  // namespace tutti::cli
