#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <tutti/error.hpp>

#include "cli/bench/plot.hpp"
#include "cli/bench/run.hpp"
#include "cli/choice/regret_command.hpp"
#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/text_file.hpp"
#include "cli/launch/launcher.hpp"
#include "cli/launch/watch.hpp"
#include "cli/versus/versus.hpp"
#include "core/quantity.hpp"
#include "rendezvous/environment.hpp"

namespace tutti::cli {
namespace {

struct Options {
  BenchWishes wishes{};
  VersusWishes versus{};
  std::uint32_t ranks = 0;
  std::string transport = "auto";
  std::string json;
  std::string csv;
  std::string plot;
  bool regret = false;
  std::string part;  // Of the processes that do it: where to leave what they found.
};

constexpr std::uint32_t most_ranks = 4096;
constexpr std::size_t most_iterations = 10'000'000;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

void save(const std::string& path, const std::string& text) {
  if (!path.empty()) write_text(path, text);
}

/// Better to know before measuring for a minute.
void require_writable(const std::string& path) {
  if (!path.empty() && path != "-" && !std::ofstream(path, std::ios::app)) {
    refuse("cannot write to '" + path + "'");
  }
}

/// Whether one of the files is standard output, which the table must then leave alone.
bool takes_standard_output(const Options& options) {
  int count = 0;
  for (const std::string& path : {options.json, options.csv, options.plot}) {
    count += path == "-" ? 1 : 0;
  }
  if (count > 1) refuse("standard output (-) has room for one of --json, --csv and --plot");
  return count == 1;
}

/// One line however many rows there are, or noise would be answered with noise.
void warn_of_wide(const BenchReport& report) {
  std::size_t wide = 0;
  std::string first;
  for (const BenchRow& row : report.rows) {
    const bool in_place = row.in_place && row.in_place->timing.is_wide();
    if (!in_place && !row.out_of_place.timing.is_wide()) continue;
    if (++wide == 1) first = format_bytes(row.bytes);
  }
  if (wide == 0) return;
  std::fprintf(stderr,
               "tutti bench: in %zu of %zu rows, first at %s, one time in ten is above twice the "
               "median or below half of it: too wide a spread to conclude from. The machine is "
               "busy, or there are more ranks than cores.\n",
               wide, report.rows.size(), first.c_str());
}

int take_part(Communicator& communicator, const BenchPlan& plan, const Options& options) {
  const BenchReport report = run_bench(communicator, plan);
  if (communicator.rank() == 0) {
    save(options.json, report.json());
    save(options.csv, report.csv());
    if (!options.plot.empty()) save(options.plot, plot_of(report));
    warn_of_wide(report);
  }
  return report.wrong() == 0 ? success : violation_found;
}

int run_as_threads(const BenchPlan& plan, const Options& options) {
  ::unsetenv("TUTTI_TRANSPORT");  // Which may demand another way.
  int code = success;
  run_threads(options.ranks, [&](Communicator& communicator) {
    const int own = take_part(communicator, plan, options);
    if (communicator.rank() == 0) code = own;
  });
  return code;
}

int run_as_launched(const BenchPlan& plan, const Options& options) {
  if (options.transport != "auto") ::setenv("TUTTI_TRANSPORT", options.transport.c_str(), 1);
  Communicator communicator = Communicator::from_environment();
  return take_part(communicator, plan, options);
}

/// Starts this very program again, with the same words, as several ranks.
int launch(std::uint32_t ranks, std::vector<std::string> words) {
  words.insert(words.begin(), own_program());
  const Job job{
      .ranks = ranks, .command = std::move(words), .speaker = "tutti bench", .direct = true};
  return Launcher(job).run();
}

int compare(const BenchPlan& plan, const Options& options, std::uint32_t ranks, bool is_rank) {
  if (is_rank || options.transport == "inproc") {
    refuse(
        "--vs starts the ranks of every library itself; run 'tutti bench' by itself, with -n "
        "and --transport shm or tcp");
  }
  require_comparable(plan);
  const VersusReport report = run_versus(options.versus, plan, ranks, options.transport == "tcp");
  // What was measured before somebody's patience ended is not lost.
  if (!report.tutti.rows.empty()) {
    save(options.json, report.json());
    save(options.csv, report.csv());
    if (!options.plot.empty()) save(options.plot, plot_of(report));
    warn_of_wide(report.tutti);
  }
  if (report.interrupted != 0) return Watch::signal_code + report.interrupted;
  return report.wrong() == 0 ? success : violation_found;
}

int run(const Options& options, const std::vector<std::string>& words) {
  if (options.regret && !options.wishes.schedules.empty()) {
    refuse(
        "--regret asks about tutti's choice; a schedule takes part in it if TUTTI_ALGO names it");
  }
  if (options.regret) {
    return run_regret({.ranks = options.ranks,
                       .transport = options.transport,
                       .wishes = options.wishes,
                       .json = options.json,
                       .part = options.part},
                      words);
  }
  if (options.wishes.collective.empty()) refuse("which collective? Such as: tutti bench allreduce");
  const Launch launched = read_environment(environment_variable);
  const bool threads = options.transport == "inproc";
  // A shell within an allocation of one rank is no reason not to start several.
  const bool is_rank =
      launched.how != Launch::How::alone && (launched.size > 1 || options.ranks <= 1);
  if (!is_rank && options.ranks == 0) refuse("how many ranks? Add -n, such as -n 4.");
  if (is_rank && threads) {
    refuse("inproc ranks are threads of one process; run 'tutti bench' by itself for that");
  }
  if (is_rank && options.ranks != 0 && options.ranks != launched.size) {
    refuse("-n says " + std::to_string(options.ranks) + " ranks, but " +
           std::string(name(launched.how)) + " has started " + std::to_string(launched.size) +
           "; leave out -n");
  }
  const std::uint32_t ranks = is_rank ? launched.size : options.ranks;
  BenchPlan plan = plan_bench(options.wishes, ranks);
  if (takes_standard_output(options)) plan.table = stderr;
  if (!options.plot.empty() && plan.collective == Collective::barrier) {
    refuse("a barrier has no sizes to plot over; leave out --plot");
  }
  if (!is_rank || launched.rank == Rank{0}) {
    require_writable(options.json);
    require_writable(options.csv);
    require_writable(options.plot);
  }
  if (!options.versus.libraries.empty()) return compare(plan, options, ranks, is_rank);
  if (threads) return run_as_threads(plan, options);
  return is_rank ? run_as_launched(plan, options) : launch(ranks, words);
}

void add_sizes(Command command, Options& options) {
  BenchWishes& wishes = options.wishes;
  command.option("-b,--minbytes", wishes.least, "smallest size: 8, 4K, 1MiB").text("SIZE (8)");
  command.option("-e,--maxbytes", wishes.most, "largest size").text("SIZE (64M)");
  const Option factor = command.option("-f,--stepfactor", wishes.factor, "from size to size")
                            .text("N (4)")
                            .between(2U, 1U << 30U);
  command.option("-i,--stepbytes", wishes.step, "from size to size, added")
      .text("SIZE")
      .excludes(factor);
  command.option("--sizes", wishes.sizes, "just these, instead")
      .text("SIZE,...")
      .delimiter(',')
      .one_word();
}

void add_repetitions(Command command, Options& options) {
  BenchPace& pace = options.wishes.pace;
  command
      .option("-w,--warmup_iters", pace.warm_ups,
              "calls before those that count (default: a few ms)")
      .text("N")
      .between(std::size_t{0}, most_iterations);
  command.option("--iters", pace.iterations, "calls that count (default: as many as fit)")
      .text("N")
      .between(std::size_t{1}, most_iterations);
  command.option("-c,--check", options.wishes.check, "1: check every result; 0: do not")
      .text("0|1 (1)")
      .among({"0", "1"});
  command.option("--seconds", pace.seconds, "for each time, unless --iters")
      .text("S (0.1)")
      .between(1e-4, 3600.0);
  command.flag("--barrier", pace.barrier,
               "before each call, not measured: calls then cannot overlap");
}

void add_kinds(Command command, Options& options) {
  BenchWishes& wishes = options.wishes;
  command.option("-o,--op", wishes.op, "sum prod min max avg band bor bxor, or all")
      .text("OP (sum)");
  command
      .option("-d,--datatype", wishes.dtype,
              "float double half bfloat16 int8 uint8 int32 ..., f32 f64 ..., or all")
      .text("TYPE (float)");
  command.option("-r,--root", wishes.root, "the root, where there is one").text("RANK (0)");
  command
      .option("--algo", wishes.algorithms,
              "such as ring; several with commas; all; auto is tutti's choice")
      .text("NAME (auto)")
      .delimiter(',')
      .one_word();
  command.option("--reproducible", wishes.reproducible, "what bits may depend on: run order exact")
      .text("LEVEL (run)");
  command.option("--schedule", wishes.schedules, "a schedule in JSON, proved and run")
      .text("FILE")
      .one_word();
}

}  // namespace

void add_bench(Command tutti, std::vector<std::string> words) {
  const Command command = tutti.command("bench", "how fast a collective is here, checked");
  auto options = std::make_shared<Options>();
  command.option("collective", options->wishes.collective, "such as allreduce").text("COLLECTIVE");
  command.option("-n,--ranks", options->ranks, "number of ranks, started on this host")
      .text("N")
      .between(1U, most_ranks);
  command.option("--transport", options->transport, "auto shm tcp, or inproc: threads")
      .text("WAY (auto)")
      .among({"auto", "shm", "tcp", "inproc"});
  add_sizes(command, *options);
  add_kinds(command, *options);
  add_repetitions(command, *options);
  command.flag("--private", options->wishes.private_buffers,
               "buffers from malloc instead of tutti::allocate");
  command.flag("--limit", options->wishes.limit,
               "measure what this machine does at best, and show the share reached");
  command.flag("--regret", options->regret,
               "how much slower tutti's choice is than the fastest algorithm");
  command.option("--part", options->part, "").hidden();
  command.option("--json", options->json, "for all figures as JSON; - is standard output")
      .text("FILE");
  command.option("--csv", options->csv, "for all figures as CSV; - is standard output")
      .text("FILE");
  command.option("--plot", options->plot, "for time and bus bandwidth over size, as SVG")
      .text("FILE.svg");
  add_versus_options(command, options->versus);
  command.footer(
      "tutti bench allreduce -n 4 -b 8 -e 64M -f 4\n\n"
      "Prints what nccl-tests prints, and after it how far apart times are, the algorithm, and "
      "with\n"
      "--limit how near the time is to what this machine does at best (docs/performance.md). Sizes "
      "are\n"
      "of the larger buffer. Times are medians over calls of the maximum over ranks. Under tutti "
      "run,\n"
      "mpirun, mpiexec, torchrun or srun it is one of their ranks; leave out -n then. Exits with 1 "
      "if\n"
      "a result is wrong.");
  command.action([options, words = std::move(words)] {
    if (!options->plot.empty()) options->wishes.limit = true;  // It is drawn in.
    return run(*options, words);
  });
}

}  // namespace tutti::cli
