#include <cstdlib>
#include <memory>

#include <tutti/error.hpp>

#include "cli/bench/comparison.hpp"
#include "cli/bench/run.hpp"
#include "cli/choice/regret_command.hpp"
#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/launch/launcher.hpp"
#include "core/reject.hpp"
#include "rendezvous/environment.hpp"

namespace tutti::cli {
namespace {

struct Options {
  BenchOptions bench{};
  VersusRequest versus{};
  BenchOutputs outputs{};
  bool regret = false;
  double time = 0;  // For --regret.
  std::string order;
  std::string part;  // Hidden: where a process started by --regret leaves its results.
};

int take_part(Communicator& communicator, const BenchPlan& plan, const BenchOutputs& outputs) {
  const measure::Report report = run_bench(communicator, plan);
  if (communicator.rank() == 0) {
    outputs.write(report);
    warn_of_wide(report);
  }
  return report.wrong() == 0 ? success : violation_found;
}

int run_as_threads(const BenchPlan& plan, std::uint32_t ranks, const BenchOutputs& outputs) {
  ::unsetenv("TUTTI_TRANSPORT");  // It may demand another transport.
  int code = success;
  run_threads(ranks, [&](Communicator& communicator) {
    const int own = take_part(communicator, plan, outputs);
    if (communicator.rank() == 0) code = own;
  });
  return code;
}

int run_as_launched(const BenchPlan& plan, BenchTransport transport, const BenchOutputs& outputs) {
  if (transport != BenchTransport::automatic) {
    ::setenv("TUTTI_TRANSPORT", name(transport).c_str(), 1);
  }
  Communicator communicator = Communicator::from_environment();
  return take_part(communicator, plan, outputs);
}

/// Starts this program with the same words as several ranks.
int launch(std::uint32_t ranks, std::vector<std::string> words) {
  words.insert(words.begin(), own_program());
  const Job job{
      .ranks = ranks, .command = std::move(words), .speaker = "tutti bench", .direct = true};
  return Launcher(job).run();
}

int run_with_regret(const Options& options, const BenchRequest& request,
                    const std::vector<std::string>& words) {
  if (!request.schedules.empty()) {
    reject("--regret measures tutti's choice; name the schedule in TUTTI_ALGO to make it a choice");
  }
  return run_regret(
      {.bench = request, .json = options.outputs.json, .time = options.time, .part = options.part},
      words);
}

int run(const Options& options, const std::vector<std::string>& words, const Compare& compare) {
  BenchRequest request = options.bench.request();
  const BenchOutputs& outputs = options.outputs;
  if (!outputs.plot.empty()) request.limit = true;  // The plot shows it.
  if (options.regret) return run_with_regret(options, request, words);
  if (!request.collective) reject("which collective? For example: tutti bench allreduce");
  const VersusRequest& versus = options.versus;
  if (!options.order.empty()) {
    if (request.transport == BenchTransport::inproc || !versus.peers.empty()) {
      reject("--order renumbers ranks that are processes of tutti; leave out inproc and --vs");
    }
    ::setenv("TUTTI_ORDER", options.order.c_str(), 1);
  }
  const Launch launched = read_environment(environment_variable);
  const bool threads = request.transport == BenchTransport::inproc;
  // Within a shell that is an allocation of one rank, -n still starts several ranks.
  const bool is_rank =
      launched.how != Launch::How::alone && (launched.size > 1 || request.ranks <= 1);
  if (!is_rank && request.ranks == 0) reject("how many ranks? Add -n, such as -n 4.");
  if (is_rank && threads) {
    reject("inproc ranks are threads of one process; run 'tutti bench' without a launcher");
  }
  if (is_rank && request.ranks != 0 && request.ranks != launched.size) {
    reject("-n says " + std::to_string(request.ranks) + " ranks, but " +
           std::string(name(launched.how)) + " has started " + std::to_string(launched.size) +
           "; leave out -n");
  }
  const std::uint32_t ranks = is_rank ? launched.size : request.ranks;
  BenchPlan plan = plan_bench(request, ranks);
  if (outputs.take_standard_output()) plan.table = stderr;
  if (!outputs.plot.empty() && *request.collective == Collective::barrier) {
    reject("a barrier has no sizes to plot over; leave out --plot");
  }
  if (!is_rank || launched.rank == Rank{0}) outputs.require_writable();
  if (!versus.peers.empty()) {
    if (is_rank || threads) {
      reject(
          "--vs starts the ranks of every library itself; run 'tutti bench' without a launcher, "
          "with -n and --transport shm or tcp");
    }
    return compare({.request = versus,
                    .plan = plan,
                    .ranks = ranks,
                    .tcp = request.transport == BenchTransport::tcp,
                    .outputs = outputs});
  }
  if (threads) return run_as_threads(plan, ranks, outputs);
  return is_rank ? run_as_launched(plan, request.transport, outputs) : launch(ranks, words);
}

}  // namespace

void add_bench(Command tutti, std::vector<std::string> words, Compare compare) {
  const Command command =
      tutti.command("bench", "measure how fast a collective is, and check its results");
  auto options = std::make_shared<Options>();
  options->bench.add(command);
  command.flag("--regret", options->regret,
               "how much slower tutti's choice is than the fastest algorithm");
  command
      .option("--time", options->time,
              "with --regret: seconds for everything, about (default: 50 per number of ranks)")
      .text("SECONDS")
      .between(1e-3, 36000.0);
  command
      .option("--order", options->order,
              "renumber the ranks: the first of the list becomes rank 0; file:PATH")
      .text("RANK,...");
  command.option("--part", options->part, "").hidden();
  BenchOutputs& outputs = options->outputs;
  command.json_file(outputs.json, "all figures as JSON, printed or written to FILE");
  command.option("--csv", outputs.csv, "write all figures as CSV; - is standard output")
      .text("FILE");
  command.option("--plot", outputs.plot, "draw time and bus bandwidth over size as SVG")
      .text("FILE.svg");
  options->versus.add(command);
  command.footer(
      "tutti bench allreduce -n 4 -b 8 -e 64M -f 4\n\n"
      "Prints the table of nccl-tests, then the spread of the times, the algorithm, and with "
      "--limit\n"
      "the share of this machine's limit that is reached (docs/performance.md). Sizes are those of "
      "the\n"
      "larger buffer. A time is the median over calls of the maximum over ranks. Under tutti run,\n"
      "mpirun, mpiexec, torchrun or srun the command is one of their ranks; leave out -n there. "
      "The\n"
      "exit code is 1 if a result is wrong.");
  command.action([options, words = std::move(words), compare = std::move(compare)] {
    return run(*options, words, compare);
  });
}

}  // namespace tutti::cli
